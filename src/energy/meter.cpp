#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/log.hpp"
#include "energy/metered_domains.hpp"
#include "energy/running_window.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {

using detail::MeteredDomains;
using detail::StoredBoundary;
using detail::StoredWaitingPower;

namespace {

/// The tags that were used, each kept once.
class Tags {
 public:
  /// Allocates nothing for one that was used before.
  std::uint32_t number_of(std::string_view tag) {
    const auto found = numbers_.find(tag);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(tags_.size());
    // Otherwise a tag could be in the map alone, and the next one would get its number.
    if (tags_.size() == tags_.capacity()) tags_.reserve(2 * tags_.size() + 1);
    const auto added = numbers_.emplace(std::string(tag), number).first;
    tags_.push_back(&added->first);  // a map's keys stay where they are
    return number;
  }
  [[nodiscard]] std::size_t size() const noexcept { return tags_.size(); }
  [[nodiscard]] const std::string& operator[](std::uint32_t number) const noexcept {
    return *tags_[number];
  }

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    std::size_t operator()(std::string_view tag) const noexcept {
      return std::hash<std::string_view>{}(tag);
    }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> tags_;
};

}  // namespace

/// Everything that was recorded: raw readings; a trace is computed from them on request.
struct EnergyMeter::Records {
  /// One call; the section that starts with it has the tag, or is a pause.
  struct Call {
    static constexpr std::uint32_t kPause = ~std::uint32_t{0};

    TimePoint called;
    TimePoint returned;
    std::uint32_t tag = kPause;
    std::uint32_t begin = 0;  ///< the number of the last start or resume
  };

  explicit Records(std::shared_ptr<MeteredDomains> read, std::string tag)
      : domains(std::move(read)), default_tag(std::move(tag)) {}

  [[nodiscard]] std::size_t width() const noexcept { return domains->names()->size(); }
  /// `tag`: absent for the default one; a stop has none.
  void capture(detail::CallKind kind, std::optional<std::string_view> tag = {});
  [[nodiscard]] EnergySample sample(std::size_t call) const;

  std::shared_ptr<MeteredDomains> domains;
  std::string default_tag;
  Tags tags;
  std::vector<Call> calls;
  std::vector<StoredBoundary> ends;         ///< `width` for each call
  std::vector<StoredWaitingPower> waiting;  ///< as `ends`, where these are aligned
  bool running = false;
  detail::RunningWindow window;
};

/// Room is made before anything is read: what fails then has recorded nothing.
void EnergyMeter::Records::capture(detail::CallKind kind, std::optional<std::string_view> tag) {
  const bool stops = kind == detail::CallKind::stop;
  const std::uint32_t tag_number = stops ? Call::kPause : tags.number_of(tag.value_or(default_tag));
  const std::size_t number = calls.size();
  const bool starts = kind == detail::CallKind::start;
  const std::uint32_t begin = starts ? static_cast<std::uint32_t>(number) : calls.back().begin;
  calls.emplace_back();
  try {
    ends.resize(calls.size() * width());
    if (domains->aligned()) waiting.resize(ends.size());
  } catch (...) {
    calls.pop_back();
    ends.resize(calls.size() * width());
    throw;
  }
  std::span<StoredWaitingPower> power;
  if (!waiting.empty()) {
    power = std::span(waiting).last(width());
    std::ranges::copy(std::span(waiting).subspan(begin * width(), width()), power.begin());
  }
  const detail::CallTimes times = domains->capture(kind, std::span(ends).last(width()), power);
  calls.back() = {
      .called = times.called, .returned = times.returned, .tag = tag_number, .begin = begin};
  running = !stops;
  if (starts) window.start();
  if (stops) window.end();
}

EnergySample EnergyMeter::Records::sample(std::size_t call) const {
  const Call& from = calls[call];
  const Call& to = calls[call + 1];
  std::vector<MeasuredEnergy> energies;
  energies.reserve(width());
  for (std::size_t i = 0; i < width(); ++i) {
    detail::Section section{.begin = from.returned,
                            .end = to.called,
                            .first = ends[call * width() + i],
                            .last = ends[(call + 1) * width() + i],
                            .is_followed = to.tag != Call::kPause};
    if (!waiting.empty()) {
      section.waiting_before = waiting[call * width() + i];
      section.waiting_after = waiting[(call + 1) * width() + i];
    }
    energies.push_back(domains->energy(i, section));
  }
  return {from.returned, tags[from.tag], to.called - from.returned, domains->names(),
          std::move(energies)};
}

EnergyMeter::EnergyMeter(EnergyMeterOptions options)
    : EnergyMeter(MeteredDomains::open(options), options.default_tag) {}

EnergyMeter::EnergyMeter(std::shared_ptr<MeteredDomains> domains, std::string default_tag)
    : records_(std::make_unique<Records>(std::move(domains), std::move(default_tag))) {}

EnergyMeter::~EnergyMeter() = default;
EnergyMeter::EnergyMeter(EnergyMeter&&) noexcept = default;
EnergyMeter& EnergyMeter::operator=(EnergyMeter&&) noexcept = default;

EnergyMeter::Records& EnergyMeter::records() const {
  if (!records_) throw InvalidArgument("cannot use a meter that was moved: use the one it became");
  return *records_;
}

EnergyMeter EnergyMeter::shared(EnergyMeterOptions options) {
  return EnergyMeter(MeteredDomains::share(options), std::move(options.default_tag));
}

EnergyMeter EnergyMeter::another() const {
  return EnergyMeter(records().domains, records().default_tag);
}

const DomainNames& EnergyMeter::domains() const noexcept {
  static const DomainNames none = std::make_shared<const std::vector<std::string>>();
  return records_ ? records_->domains->names() : none;
}

bool EnergyMeter::is_running() const noexcept { return records_ && records_->running; }

void EnergyMeter::start(std::optional<std::string_view> tag) {
  constexpr std::size_t kManyTags = 10'000;
  if (records().tags.size() > kManyTags) records().tags = {};
  records().running = false;
  records().window.end();
  records().calls.clear();
  records().ends.clear();
  records().waiting.clear();
  records().capture(detail::CallKind::start, tag);
}

void EnergyMeter::record(std::optional<std::string_view> tag) {
  if (!records().running) {
    throw NotStarted("cannot record: the meter is not running; start it first");
  }
  records().capture(detail::CallKind::record, tag);
}

void EnergyMeter::stop() {
  if (is_running()) return records().capture(detail::CallKind::stop);
  if (records().calls.empty()) throw NotStarted("cannot stop: the meter was never started");
}

void EnergyMeter::resume(std::optional<std::string_view> tag) {
  if (is_running()) throw NotStopped("cannot resume: the meter is running; stop it first");
  records().capture(detail::CallKind::start, tag);
}

void EnergyMeter::reserve(std::size_t calls) {
  constexpr std::size_t kMost = std::size_t{1} << 32U;
  if (calls > kMost) throw InvalidArgument("cannot make room for more than 4294967296 calls");
  records().calls.reserve(calls);
  records().ends.reserve(calls * records().width());
  if (records().domains->aligned()) records().waiting.reserve(calls * records().width());
}

EnergyTrace EnergyMeter::trace() const {
  if (is_running()) throw NotStopped("cannot give the trace: the meter is running; stop it first");
  const std::vector<Records::Call>& calls = records().calls;
  std::vector<EnergySample> samples;
  for (std::size_t i = 0; i + 1 < calls.size(); ++i) {
    if (calls[i].tag != Records::Call::kPause) samples.push_back(records().sample(i));
  }
  const auto missing = records().domains->missing();
  return EnergyTrace(std::move(samples), {missing.begin(), missing.end()});
}

EnergyTrace EnergyMeter::measure_idle(const EnergyTrace& trace) const {
  if (is_running()) throw NotStopped("cannot measure idle: the meter is running; stop it first");
  EnergyMeter idle = another();
  constexpr Seconds kLongest = std::chrono::hours(24 * 365);
  for (const EnergySample& sample : trace) {
    if (sample.duration() > kLongest) {
      throw InvalidArgument("cannot measure idle for more than a year: a sample took that long");
    }
    idle.resume(sample.tag());
    records().domains->sleep(
        std::chrono::duration_cast<std::chrono::nanoseconds>(sample.duration()));
    idle.stop();
  }
  return idle.trace();
}

EnergyHandler& default_handler() {
  // Never destroyed: a scope may end after everything static has.
  static auto& handler = *new PrintHandler;  // NOLINT(*-avoid-non-const-global-variables)
  return handler;
}

EnergyScope::EnergyScope() : EnergyScope(default_handler()) {}

EnergyScope::EnergyScope(std::string_view start_tag, EnergyMeterOptions options)
    : EnergyScope(default_handler(), std::move(options), start_tag) {}

EnergyScope::EnergyScope(EnergyHandler& handler, EnergyMeterOptions options,
                         std::string_view start_tag)
    : EnergyScope(handler, EnergyMeter(std::move(options)), start_tag) {}

EnergyScope::~EnergyScope() {
  try {
    close();
  } catch (const std::exception& error) {
    log(std::string("the energy of a scope was measured, but not handled: ") + error.what());
  } catch (...) {
    log("the energy of a scope was measured, but not handled: its handler threw");
  }
}

void EnergyScope::close() {
  if (closed_) return;
  closed_ = true;
  meter_.stop();
  handler_.process(meter_.trace());
}

}  // namespace wattle
