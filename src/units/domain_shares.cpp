#include "units/domain_shares.hpp"

#include <algorithm>
#include <cmath>

#include "units/unit_time.hpp"

namespace wattle::detail {

namespace {

/// After the last unit, before the power counts as idle: sensors of up to 200 ms are known that do
/// not state it.
constexpr std::int64_t kQuietNs = 300'000'000;
/// Powers within such a time are taken for one value.
constexpr double kIdleBlockS = 0.1;
constexpr double kLeastIdleS = 0.5;

double weight_of(std::int64_t steps) noexcept { return static_cast<double>(steps) * kWeightStep; }

}  // namespace

void IdleWatch::add(double joules, double seconds, bool is_before_units) noexcept {
  IdleEnergy& part = is_before_units ? before_ : after_;
  part.joules += joules;
  part.seconds += seconds;
  part.block_joules += joules;
  part.block_seconds += seconds;
  if (part.block_seconds < kIdleBlockS) return;
  part.blocks.add(part.block_joules / part.block_seconds);
  part.block_joules = 0.0;
  part.block_seconds = 0.0;
}

std::optional<UnitIdlePower> IdleWatch::IdleEnergy::power(
    const std::string& domain) const noexcept {
  if (seconds < kLeastIdleS || blocks.count < 3) return std::nullopt;
  const double error = std::sqrt(blocks.variance() / static_cast<double>(blocks.count));
  return UnitIdlePower{domain, Watts(joules / seconds), Watts(2.0 * error)};
}

std::optional<UnitIdlePower> IdleWatch::found(const std::string& domain) const noexcept {
  const auto before = before_.power(domain);
  return before ? before : after_.power(domain);
}

std::optional<UnitIdlePower> IdleWatch::later(const std::string& domain) const noexcept {
  return after_.power(domain);
}

void DomainShares::add(const UnitReading& reading) {
  if (last_reading_ && reading.end <= *last_reading_) return;
  UnitReading next = reading;
  if (last_reading_) {
    // The clock steps back for nobody: what overlaps is cut off, what is missing is unknown.
    next.energy.unknown += std::max(Seconds(0), Seconds(reading.begin - *last_reading_));
    next.begin = *last_reading_;
  }
  last_reading_ = reading.end;
  readings_.push_back(next);
}

bool DomainShares::take_interval(const UnitEventLog& log, std::int64_t until_ns) {
  while (!readings_.empty()) {
    UnitReading reading = readings_.front();
    const std::int64_t end_ns = ns_of(reading.end) - lag_ns_;
    if (end_ns > until_ns) return false;
    readings_.pop_front();
    if (end_ns_ == 0) {  // time before the first reading is unknown
      interval_ = {.end_ns = ns_of(reading.begin) - lag_ns_};
      interval_.begin_ns = std::min(
          interval_.end_ns, log.events.empty() ? interval_.end_ns : log.events.front().at_ns);
      interval_.unknown_s = seconds_of_ns(interval_.end_ns - interval_.begin_ns);
      readings_.push_front(reading);
    } else {
      if (has_carried_) {
        MeasuredEnergy& energy = reading.energy;
        energy.unknown += carried_.energy.unknown;
        energy.flags |= carried_.energy.flags;
        if (carried_.energy.energy) {
          energy.energy = energy.energy.value_or(Joules(0.0)) + *carried_.energy.energy;
          UncertaintySum errors;
          errors.add(carried_.energy.uncertainty, carried_.energy.common);
          errors.add(energy.uncertainty, energy.common);
          energy.uncertainty = errors.uncertainty();
          energy.common = errors.common();
        }
        has_carried_ = false;
      }
      if (end_ns <= end_ns_) {
        carried_ = reading;
        has_carried_ = true;
        continue;
      }
      interval_ = {.begin_ns = end_ns_, .end_ns = end_ns};
      const double length_s = seconds_of_ns(interval_.end_ns - interval_.begin_ns);
      if (reading.energy.energy) interval_.joules = reading.energy.energy->si();
      interval_.unknown_s =
          interval_.joules ? std::min(reading.energy.unknown.count(), length_s) : length_s;
      interval_.uncertainty_j = reading.energy.uncertainty.si();
      interval_.common_j = reading.energy.common.si();
      interval_.flags = reading.energy.flags;
    }
    end_ns_ = interval_.end_ns;
    share_out(interval_, measure_weights(log));
    now_ns_ = interval_.begin_ns;
    return true;
  }
  return false;
}

DomainShares::WeightTimes DomainShares::measure_weights(const UnitEventLog& log) {
  WeightTimes times;
  const std::uint64_t first = next_;
  const std::int64_t weight = weight_;
  std::int64_t running = running_;
  std::int64_t before_ns = interval_.begin_ns;
  double running_s = 0.0;
  const auto pass = [&](std::int64_t at_ns) {
    if (running > 0) {
      const double length_s = seconds_of_ns(at_ns - before_ns);
      times.weight_s += weight_of(weight_) * length_s;
      running_s += static_cast<double>(running) * length_s;
      times.covered_s += length_s;
    }
    before_ns = at_ns;
  };
  visit_events(log, [&](const UnitEvent& event, std::int64_t at_ns) {
    pass(at_ns);
    weight_ += is_by_thread(event) ? event.step : event.weight_change();
    if (event.adds_weight()) ++running;
    if (event.removes_weight()) --running;
  });
  pass(interval_.end_ns);
  next_ = first;
  weight_ = weight;
  covered_s_ += times.covered_s;
  running_s_ += running_s;
  return times;
}

void DomainShares::share_out(SharedInterval& interval, const WeightTimes& times) {
  const double length_s = seconds_of_ns(interval.end_ns - interval.begin_ns);
  const double weight_s = times.weight_s;
  const double covered_s = times.covered_s;
  // Units that all wait have no weight by the CPU time of their threads.
  const bool has_units = weight_s > 0.0;
  const auto idle_power = idle();
  lengths_s_ += length_s;
  ++intervals_;
  if (!interval.joules || (has_units && idle_share_ == IdleShare::kept && !idle_power)) {
    interval.joules.reset();
    interval.unknown_s = length_s;
  }
  balance_.unknown += Seconds(interval.unknown_s);
  if (covered_s > 0.0) last_unit_ns_ = interval.end_ns;
  if (covered_s > 0.0) interval.unknown = interval.unknown_s / covered_s;
  if (has_units != had_units_ && interval.joules) {
    doubt_.measured_j2 += interval.uncertainty_j * interval.uncertainty_j;
  }
  had_units_ = has_units;
  if (!interval.joules) return;

  const double joules = *interval.joules;
  balance_.measured += Joules(joules);
  balance_.flags |= interval.flags;
  measured_error_.add(Joules(interval.uncertainty_j), Joules(interval.common_j));
  if (!has_units) {
    balance_.without_units += Joules(joules);
    if (!(covered_s > 0.0)) watch_idle(interval);
    return;
  }
  const double known_s = length_s - interval.unknown_s;
  double above = joules;
  if (idle_share_ == IdleShare::kept) {
    above -= idle_power->power.si() * known_s;
    balance_.idle += Joules(joules - above);
    doubt_.idle_j += idle_power->uncertainty.si() * known_s;
  } else if (idle_power && covered_s < length_s) {
    // Where less was drawn than the idle power, all of it is: with idle power to the units no share
    // is negative.
    const double idle_j = idle_power->power.si() * known_s * (length_s - covered_s) / length_s;
    above -= std::clamp(idle_j, 0.0, std::max(joules, 0.0));
    balance_.without_units += Joules(joules - above);
  }
  interval.rate = above / weight_s;
  interval.whole_j = std::abs(interval.rate) * covered_s;
  doubt_.joules += above;
  // An end lies somewhere in the interval, whose power may have changed within it.
  const double mean_weight = weight_s / covered_s;
  const double measured = interval.uncertainty_j / mean_weight;
  double placed = std::abs(interval.rate - last_rate_) * covered_s;
  // Joules per weight have no bound where threads hardly compute. What was measured has one.
  if (!threads_.empty()) placed = std::min(placed, interval.whole_j);
  interval.edge_j2 = measured * measured / 2.0 + placed * placed / 12.0;
  last_rate_ = interval.rate;
}

void DomainShares::watch_idle(const SharedInterval& interval) {
  if (interval.unknown_s > 0.0) return;
  const double length_s = seconds_of_ns(interval.end_ns - interval.begin_ns);
  if (last_unit_ns_ == 0 || interval.begin_ns >= last_unit_ns_ + kQuietNs) {
    idle_watch_.add(*interval.joules, length_s, last_unit_ns_ == 0);
    return;
  }
  const auto idle_power = idle();
  doubt_.spilled_j += *interval.joules - (idle_power ? idle_power->power.si() * length_s : 0.0);
}

void DomainShares::advance(std::int64_t at_ns) noexcept {
  if (running_ > 0) {
    const double length_s = seconds_of_ns(at_ns - now_ns_);
    sum_ += interval_.rate * length_s;
    unknown_ += interval_.unknown * length_s;
  }
  now_ns_ = at_ns;
}

const ThreadCurve* DomainShares::change(const UnitEvent& event, std::int64_t at_ns,
                                        std::int64_t units) {
  advance(at_ns);
  running_ += units;
  if (!is_by_thread(event)) {
    weight_ += event.weight_change();
    return nullptr;
  }
  weight_ += event.step;
  const auto place = static_cast<std::size_t>(event.thread);
  if (place >= threads_.size()) threads_.resize(place + 1);
  ThreadCurve& thread = threads_[place];
  thread.advance(sum_);
  thread.apply(event);
  return &thread;
}

void DomainShares::enter(const UnitEvent& event, std::int64_t at_ns) {
  const ThreadCurve* const thread = change(event, at_ns, 1);
  const double part = thread != nullptr ? thread->part() : 1.0;
  if (event.slot >= starts_.size()) starts_.resize(event.slot + std::size_t{1});
  ShareStart& start = starts_[event.slot];
  const bool is_first = event.kind == UnitEvent::EventKind::begin;
  start = {.sum = thread != nullptr ? thread->per_weight : sum_,
           .whole_sum = sum_,
           .thread = thread != nullptr ? event.thread : 0,
           .unknown = unknown_,
           .edge_j2 = part * part * interval_.edge_j2,
           .weight = event.weight,
           .interval = interval_number_,
           .unit_unknown = is_first ? unknown_ : start.unit_unknown,
           .unit_interval = is_first ? interval_number_ : start.unit_interval,
           .is_in = true};
}

UnitShare DomainShares::leave(const UnitEvent& event, std::int64_t at_ns) {
  ShareStart& start = starts_[event.slot];
  // Before the event, which changes the load of the thread.
  double part = start.thread != 0 ? threads_[static_cast<std::size_t>(start.thread)].part() : 1.0;
  const ThreadCurve* const thread = change(event, at_ns, -1);
  const double weight = weight_of(event.weight);
  const double sum = (thread != nullptr ? thread->per_weight : sum_) - start.sum;
  UnitShare share{.joules = weight * sum,
                  .unknown_s = unknown_ - start.unknown,
                  .unit_unknown_s = unknown_ - start.unit_unknown,
                  .is_short = start.unit_interval == interval_number_};
  const bool is_within = start.interval == interval_number_;
  if (is_within && thread != nullptr) {  // on average
    const double whole = sum_ - start.whole_sum;
    part = whole != 0.0 ? sum / whole : 0.0;
  }
  const double edge_j2 = is_within ? interval_.whole_j * interval_.whole_j : interval_.edge_j2;
  share.variance_j2 = weight * weight * (part * part * edge_j2 + (is_within ? 0.0 : start.edge_j2));
  start.is_in = false;
  balance_.units += Joules(share.joules);
  return share;
}

void DomainShares::finish_interval() noexcept {
  advance(interval_.end_ns);
  ++interval_number_;
}

UnitBalance DomainShares::balance() const {
  UnitBalance balance = balance_;
  balance.uncertainty = measured_error_.uncertainty();
  for (const ShareStart& start : starts_) {
    if (!start.is_in) continue;
    double now = sum_;
    if (start.thread != 0) {
      ThreadCurve thread = threads_[static_cast<std::size_t>(start.thread)];
      thread.advance(sum_);
      now = thread.per_weight;
    }
    balance.running += Joules(weight_of(start.weight) * (now - start.sum));
  }
  return balance;
}

std::optional<UnitIdlePower> DomainShares::idle() const noexcept {
  return domain_.idle ? domain_.idle : idle_watch_.found(domain_.name);
}

bool DomainShares::has_idle_changed() const noexcept {
  const auto expected = idle();
  const auto later = idle_watch_.later(domain_.name);
  if (!expected || !later) return false;
  const double change = std::abs(later->power.si() - expected->power.si());
  const double doubt = std::hypot(later->uncertainty.si(), expected->uncertainty.si());
  // 1 %: a device that warms up draws that much more.
  return change > doubt && change > 0.01 * expected->power.si();
}

DomainShares::ShareDoubt DomainShares::doubt() const noexcept {
  ShareDoubt doubt = doubt_;
  doubt.mean_interval_s = intervals_ > 0 ? lengths_s_ / static_cast<double>(intervals_) : 0.0;
  doubt.mean_running = covered_s_ > 0.0 ? running_s_ / covered_s_ : 0.0;
  return doubt;
}

}  // namespace wattle::detail
