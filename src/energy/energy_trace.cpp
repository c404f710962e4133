#include "wattle/energy_trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <utility>

#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "sampling/energy_sum.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// The place of a domain's energy in a sample; absent where it was not measured.
std::optional<std::size_t> find_domain(const std::vector<std::string>& domains,
                                       std::string_view domain) noexcept {
  const auto found = std::ranges::find(domains, domain);
  if (found == domains.end()) return std::nullopt;
  return static_cast<std::size_t>(found - domains.begin());
}

/// A name that occurs twice; null where there is none. Samples have a handful of domains, and a
/// trace a million samples: comparing all pairs is quicker than sorting a copy.
const std::string* find_repeated(const std::vector<std::string>& names) noexcept {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) return &*name;
  }
  return nullptr;
}

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  return joined(names, ", ", [](const std::string& name) { return printable(name); });
}

/// False for a negative energy, for one that is unknown or a lower bound, and for what is no
/// number.
bool is_sound(const EnergySample& sample, std::size_t domain) {
  const MeasuredEnergy& measured = sample.energies()[domain];
  return sample.is_complete(domain) && measured.energy && measured.energy->si() >= 0.0;
}

MeasuredEnergy difference(const MeasuredEnergy& measured, const MeasuredEnergy& idle,
                          Seconds duration) noexcept {
  MeasuredEnergy rest;
  rest.flags = measured.flags;
  rest.flags |= idle.flags;
  rest.unknown = duration;
  if (!measured.energy || !idle.energy) return rest;
  rest.energy = *measured.energy - *idle.energy;
  UncertaintySum errors;
  errors.add(measured.uncertainty, measured.common);
  errors.subtract(idle.uncertainty, idle.common);
  rest.uncertainty = errors.uncertainty();
  rest.common = errors.common();
  // The unknown times of the two may lie in different parts of the interval.
  rest.unknown = std::min(measured.unknown + idle.unknown, duration);
  return rest;
}

/// False for a source's own name too: it may overlap what is counted.
bool is_in_total(const std::string& domain) {
  try {
    return counts_in_total(Domain::parse(domain).kind());
  } catch (const InvalidArgument&) {
    return false;
  }
}

[[noreturn]] void fail_without_idle(const EnergySample& sample, const std::string& domain,
                                    const std::vector<std::string>& measured) {
  throw InvalidArgument("cannot take idle energy off: it was not measured for the domain \"" +
                        printable(domain) + "\" of the sample \"" + printable(sample.tag()) +
                        "\", only for: " + listed(measured));
}

std::vector<MeasuredEnergy> without_idle(const EnergySample& sample, const IdlePower& idle) {
  std::vector<MeasuredEnergy> rest(sample.energies().begin(), sample.energies().end());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::string& domain = (*sample.domains())[i];
    const auto power = idle.find(domain);
    if (power == idle.end()) {
      std::vector<std::string> given;
      for (const auto& [name, watts] : idle) given.push_back(name);
      fail_without_idle(sample, domain, given);
    }
    if (rest[i].energy) *rest[i].energy -= power->second * (sample.duration() - rest[i].unknown);
  }
  return rest;
}

/// The energies of `sample` without those of `idle`.
std::vector<MeasuredEnergy> without_idle(const EnergySample& sample, const EnergySample& idle) {
  std::vector<MeasuredEnergy> rest;
  rest.reserve(sample.energies().size());
  for (std::size_t i = 0; i < sample.energies().size(); ++i) {
    const std::string& domain = (*sample.domains())[i];
    const std::optional<std::size_t> at = find_domain(*idle.domains(), domain);
    if (!at) fail_without_idle(sample, domain, *idle.domains());
    rest.push_back(difference(sample.energies()[i], idle.energies()[*at], sample.duration()));
  }
  return rest;
}

}  // namespace

EnergySample::EnergySample(TimePoint timestamp, std::string tag, Seconds duration,
                           DomainNames domains, std::vector<MeasuredEnergy> energies)
    : timestamp_(timestamp),
      tag_(std::move(tag)),
      duration_(duration),
      domains_(std::move(domains)),
      energies_(std::move(energies)) {
  if (!domains_) throw InvalidArgument("a sample needs a list of domains, if an empty one");
  if (domains_->size() != energies_.size()) {
    throw InvalidArgument("a sample of " + std::to_string(domains_->size()) +
                          " domains cannot have " + std::to_string(energies_.size()) + " energies");
  }
  if (const std::string* const repeated = find_repeated(*domains_)) {
    throw InvalidArgument("a sample cannot have the domain \"" + printable(*repeated) + "\" twice");
  }
  if (!std::isfinite(duration_.count()) || duration_ < Seconds::zero()) {
    throw InvalidArgument("a sample's duration must be a number of at least 0, not " +
                          std::to_string(duration_.count()) + " s");
  }
}

const MeasuredEnergy& EnergySample::energy(std::string_view domain) const {
  if (const std::optional<std::size_t> at = find_domain(*domains_, domain)) return energies_[*at];
  const std::string name(domain);
  throw NoSuchDomain(
      "the domain \"" + printable(name) + "\" was not measured, only: " + listed(*domains_), name);
}

MeasuredEnergy EnergySample::total() const {
  EnergySum sum(duration_);
  for (std::size_t i = 0; i < energies_.size(); ++i) {
    if (is_in_total((*domains_)[i])) sum.add(energies_[i]);
  }
  return sum.result();
}

bool EnergySample::is_complete(std::size_t index) const {
  if (index >= energies_.size()) {
    throw NoSuchDomain("there is no domain number " + std::to_string(index) + " in the sample",
                       std::to_string(index));
  }
  static constexpr double kMostUnknown = 1e-3;
  const MeasuredEnergy& measured = energies_[index];
  return measured.energy && measured.unknown <= kMostUnknown * duration_;
}

// Exported here: its declaration is a friend's.
WATTLE_EXPORT bool operator==(const EnergySample& a, const EnergySample& b) {
  return a.timestamp_ == b.timestamp_ && a.duration_ == b.duration_ && a.tag_ == b.tag_ &&
         a.energies_ == b.energies_ && (a.domains_ == b.domains_ || *a.domains_ == *b.domains_);
}

EnergyTrace::EnergyTrace(std::vector<EnergySample> samples, std::vector<Refusal> missing)
    : samples_(std::move(samples)), missing_(std::move(missing)) {}

const EnergySample& EnergyTrace::operator[](std::size_t index) const& {
  if (index < samples_.size()) return samples_[index];
  throw NoSuchSample("there is no sample " + std::to_string(index) + " in a trace of " +
                     std::to_string(samples_.size()));
}

const EnergySample& EnergyTrace::operator[](std::string_view tag) const& {
  const auto found = std::ranges::find(samples_, tag, &EnergySample::tag);
  if (found != samples_.end()) return *found;
  throw NoSuchSample("no sample of the trace has the tag \"" + printable(tag) + "\"");
}

EnergySample EnergyTrace::operator[](std::size_t index) && { return std::as_const(*this)[index]; }

EnergySample EnergyTrace::operator[](std::string_view tag) && { return std::as_const(*this)[tag]; }

bool EnergyTrace::contains(std::string_view tag) const noexcept {
  return std::ranges::find(samples_, tag, &EnergySample::tag) != samples_.end();
}

void EnergyTrace::append(EnergySample sample) { samples_.push_back(std::move(sample)); }

EnergyTrace& EnergyTrace::operator+=(const EnergyTrace& other) {
  // By number: `other` may be this trace, which grows. Not reserved: joining many short traces
  // would then move all samples at every call.
  const std::size_t count = other.samples_.size();
  for (std::size_t i = 0; i < count; ++i) samples_.push_back(other.samples_[i]);
  if (&other == this) return *this;
  for (const Refusal& missing : other.missing_) {
    if (std::ranges::find(missing_, missing) == missing_.end()) missing_.push_back(missing);
  }
  return *this;
}

void EnergyTrace::clean_data(std::span<const Guard> guards) {
  if (!std::ranges::all_of(guards, [](const Guard& guard) { return bool{guard}; })) {
    throw InvalidArgument("cannot clean the trace: a guard is empty");
  }
  // Decided for all before any is removed: a guard may throw.
  std::vector<std::uint8_t> keeps;
  keeps.reserve(samples_.size());
  for (const EnergySample& sample : samples_) {
    bool keep = true;
    for (std::size_t i = 0; i < sample.energies().size(); ++i) keep = keep && is_sound(sample, i);
    if (keep) {
      for (const Guard& guard : guards) keep = guard(sample) && keep;
    }
    keeps.push_back(keep ? 1 : 0);
  }
  auto keep = keeps.cbegin();
  std::erase_if(samples_, [&](const EnergySample&) { return *keep++ == 0; });
}

void EnergyTrace::remove_idle(const EnergyTrace& idle) {
  if (idle.size() != size()) {
    throw InvalidArgument("cannot take idle energy off: the trace has " + std::to_string(size()) +
                          " samples, and the idle trace " + std::to_string(idle.size()));
  }
  std::vector<std::vector<MeasuredEnergy>> rests;
  rests.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    rests.push_back(without_idle(samples_[i], idle.samples_[i]));
  }
  for (std::size_t i = 0; i < size(); ++i) samples_[i].energies_ = std::move(rests[i]);
}

void EnergyTrace::remove_idle(const IdlePower& idle) {
  std::vector<std::vector<MeasuredEnergy>> rests;
  rests.reserve(size());
  for (const EnergySample& sample : samples_) rests.push_back(without_idle(sample, idle));
  for (std::size_t i = 0; i < size(); ++i) samples_[i].energies_ = std::move(rests[i]);
}

std::ostream& operator<<(std::ostream& out, const EnergySample& sample) {
  if (!sample.tag().empty()) out << printable(sample.tag(), sample.tag().size()) << ": ";
  out << sample.total() << " in " << to_text(sample.duration());
  const char* before = " (";
  for (std::size_t i = 0; i < sample.energies().size(); ++i) {
    const std::string& domain = (*sample.domains())[i];
    out << before << printable(domain, domain.size()) << ": " << sample.energies()[i];
    before = ", ";
  }
  return out << (sample.energies().empty() ? "" : ")");
}

std::ostream& operator<<(std::ostream& out, const EnergyTrace& trace) {
  for (const EnergySample& sample : trace) out << sample << '\n';
  return out;
}

}  // namespace wattle
