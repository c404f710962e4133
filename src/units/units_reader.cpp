#include "units/units_reader.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/worker.hpp"
#include "wattle/error.hpp"

namespace wattle::detail {

namespace {

constexpr std::size_t kMostTags = 4096;
constexpr std::size_t kMostKept = std::size_t{1} << 24U;
/// A counter that stays as it was is not read as 0 W before so much time has passed: it may only be
/// renewed rarely.
constexpr std::chrono::nanoseconds kLongestUpdate = std::chrono::seconds(1);

void check(const WorkUnitsOptions& options) {
  const auto fail = [](const std::string& reason) {
    throw InvalidArgument("cannot divide energy among units: " + reason);
  };
  if (options.most_tags < 1 || options.most_tags > kMostTags) {
    fail("most_tags must be from 1 to 4096");
  }
  if (options.kept_results < 1 || options.kept_results > kMostKept) {
    fail("kept_results must be from 1 to 16777216");
  }
  if (options.period < std::chrono::milliseconds(1)) fail("period must be at least 1 ms");
  if (options.lag &&
      (*options.lag < std::chrono::nanoseconds(0) || *options.lag > std::chrono::seconds(10))) {
    fail("lag must be from 0 to 10 s");
  }
  for (const UnitIdlePower& idle : options.idle_power) {
    const auto is_from_0 = [](Watts power) {
      return std::isfinite(power.si()) && power.si() >= 0.0;
    };
    if (!is_from_0(idle.power) || !is_from_0(idle.uncertainty)) {
      fail("the idle power of " + printable(idle.domain) + " is not a power from 0 W up");
    }
  }
}

/// The domain of a name; absent for that of a source.
std::optional<Domain> domain_of(const std::string& name) {
  try {
    return Domain::parse(name);
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

/// Whether the domain can be divided: with others it must not overlap.
bool is_divided(const std::optional<Domain>& domain, const WorkUnitsOptions& options) {
  if (!domain || domain->kind() == DomainKind::custom || counts_in_total(domain->kind())) {
    return true;
  }
  if (!options.domains) return false;
  const bool is_alone = options.domains->size() + options.sources.size() == 1;
  if (is_alone) return true;
  throw InvalidArgument("cannot divide " + domain->name() +
                        " beside other domains: it overlaps them; name it alone");
}

}  // namespace

UnitsReader::UnitsReader(std::shared_ptr<MeteredDomains> domains, const WorkUnitsOptions& options,
                         const TimeSource& clock, const ThreadClock& threads)
    : domains_(std::move(domains)),
      on_done_(options.on_done),
      desk_((check(options), std::make_shared<UnitDesk>(clock, options.most_tags, threads))),
      ends_(domains_->names()->size()) {
  std::vector<DividedDomain> divided;
  for (std::size_t i = 0; i < domains_->names()->size(); ++i) {
    const std::string& name = (*domains_->names())[i];
    const std::optional<Domain> domain = domain_of(name);
    if (!is_divided(domain, options)) continue;
    DividedDomain part{.name = name};
    if (domain && domain->category() == DomainCategory::gpu) {
      gpus_.push_back(*domain);
      part.gpu = static_cast<std::uint8_t>(std::min<std::size_t>(gpus_.size(), 255));
    }
    const auto idle = std::ranges::find(options.idle_power, name, &UnitIdlePower::domain);
    if (idle != options.idle_power.end()) part.idle = *idle;
    names_.push_back(name);
    columns_.push_back({.place = i});
    divided.push_back(std::move(part));
  }
  for (const UnitIdlePower& idle : options.idle_power) {
    if (std::ranges::find(names_, idle.domain) == names_.end()) {
      throw InvalidArgument("cannot use the idle power of " + printable(idle.domain) +
                            ": it is not among the divided domains: " + joined(names_, ", "));
    }
  }
  book_.emplace(desk_->events, desk_->tags, std::move(divided),
                UnitBookOptions{.idle = options.idle,
                                .lag = options.lag,
                                .kept_results = options.kept_results,
                                .traces = &desk_->traces,
                                .threads = &desk_->threads});
}

/// Adds what a domain has shown since its last interval; nothing if its counter was not renewed.
void UnitsReader::add_reading(std::size_t number, const StoredBoundary& end, TimePoint call,
                              std::vector<UnitReading>& readings) {
  using State = StoredBoundary::BoundaryState;
  DomainColumn& column = columns_[number];
  const bool is_read = end.state == State::read;
  const TimePoint at = is_read ? end.at : call;
  if (column.has_begun) {
    if (at <= column.at) return;
    const bool is_same =
        is_read && column.end.state == State::read && end.ticks == column.end.ticks;
    if (is_same && at - column.at < kLongestUpdate) return;
    readings[number] = {.begin = column.at,
                        .end = at,
                        .energy = domains_->energy(column.place, {.begin = column.at,
                                                                  .end = at,
                                                                  .first = column.end,
                                                                  .last = end,
                                                                  .is_followed = true})};
  }
  column.at = at;
  column.end = end;
  column.has_begun = true;
}

bool UnitsReader::read() {
  if (desk_->events.is_copy()) return false;
  std::vector<UnitEnergy> finals;
  bool is_settled = false;
  {
    const std::scoped_lock reading(reading_mutex_);
    const CallTimes call = domains_->capture(CallKind::record, ends_, {});
    std::vector<UnitReading> readings(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      add_reading(i, ends_[columns_[i].place], call.called, readings);
    }
    const std::scoped_lock lock(book_mutex_);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (readings[i].end > readings[i].begin) book_->add(i, readings[i]);
    }
    book_->settle(on_done_ ? [&](const UnitEnergy& unit) { finals.push_back(unit); }
                           : std::function<void(const UnitEnergy&)>());
    is_settled = book_->waiting() == 0;
  }
  // Without a lock: who gets them may ask for more.
  for (const UnitEnergy& unit : finals) {
    try {
      on_done_(unit);
    } catch (const std::exception& error) {
      report_failure(error.what());
    } catch (...) {
      report_failure("unknown exception");
    }
  }
  return is_settled;
}

/// Once.
void UnitsReader::report_failure(const char* what) {
  if (!has_failed_.exchange(true)) log("on_done of units of work failed: " + printable(what));
}

UnitState UnitsReader::state(UnitId unit) const {
  if (desk_->events.is_copy()) return UnitState::forgotten;
  const std::scoped_lock lock(book_mutex_);
  return book_->state(unit);
}

std::optional<UnitEnergy> UnitsReader::result(UnitId unit) const {
  if (desk_->events.is_copy()) return std::nullopt;
  const std::scoped_lock lock(book_mutex_);
  return book_->result(unit);
}

UnitsReport UnitsReader::report() const {
  if (desk_->events.is_copy()) return {};
  const std::scoped_lock lock(book_mutex_);
  return book_->report();
}

std::uint8_t UnitsReader::gpu_number(const Domain& gpu) const {
  const auto found = std::ranges::find(gpus_, gpu);
  if (found != gpus_.end()) {
    return static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(found - gpus_.begin() + 1, 255));
  }
  throw InvalidArgument("cannot start a unit on " + gpu.name() +
                        ": that GPU is not divided; divided are: " + joined(names_, ", "));
}

std::vector<std::string> UnitsReader::domains() const { return names_; }

std::vector<Refusal> UnitsReader::missing() const {
  return {domains_->missing().begin(), domains_->missing().end()};
}

void UnitsReader::keep_desk() noexcept {
  struct KeptDesks {
    std::mutex mutex;
    std::vector<std::shared_ptr<UnitDesk>> desks;
  };
  if (desk_->events.running() == 0) return;
  if (desk_->events.is_copy()) return leak(desk_);
  try {
    // Never destroyed: a unit may end as late as the process.
    static auto& kept = *new KeptDesks;  // NOLINT(*-avoid-non-const-global-variables)
    const std::scoped_lock lock(kept.mutex);
    kept.desks.push_back(desk_);
  } catch (const std::bad_alloc&) {
    leak(desk_);
  }
}

}  // namespace wattle::detail
