#include "units/thread_loads.hpp"

#include <algorithm>
#include <cmath>

#include "units/unit_time.hpp"

namespace wattle::detail {

namespace {

/// Two clocks are not read at the same time: a short segment can seem to have used more than one
/// processor.
constexpr double kMostLoad = 1024.0;

std::int64_t load_steps(std::int64_t used_ns, std::int64_t length_ns) noexcept {
  if (used_ns <= 0 || length_ns <= 0) return 0;
  const double load = static_cast<double>(used_ns) / static_cast<double>(length_ns);
  return std::llround(std::min(load, kMostLoad) / kWeightStep);
}

}  // namespace

void ThreadSteps::pass(LoadedThread& thread, UnitEventLog& log, const UnitEvent& event) {
  if (thread.running == 0) {
    thread.at_ns = event.at_ns;
    thread.used_ns = event.used_ns;
    thread.load = 0;
    return;
  }
  const std::int64_t length_ns = event.at_ns - thread.at_ns;
  const std::int64_t load = load_steps(event.used_ns - thread.used_ns, length_ns);
  if (thread.last >= log.first) {
    UnitEvent& before = log.events[static_cast<std::size_t>(thread.last - log.first)];
    before.step = static_cast<std::int32_t>(load - thread.load);
  }
  thread.load = load;
  if (length_ns <= 0) return;
  thread.at_ns = event.at_ns;
  thread.used_ns = std::max(thread.used_ns, event.used_ns);
}

void ThreadSteps::note(UnitEventLog& log, std::size_t place) {
  UnitEvent& event = log.events[place];
  if (event.thread == 0) return;
  const auto [found, is_new] = threads_.try_emplace(event.thread);
  LoadedThread& thread = found->second;
  if (is_new) {
    thread.number = free_.empty() ? ++numbers_ : free_.back();
    if (!free_.empty()) free_.pop_back();
  }
  event.thread = thread.number;
  pass(thread, log, event);
  if (event.adds_weight()) ++thread.running;
  if (event.removes_weight()) --thread.running;
  thread.last = log.first + place;
  if (thread.running > 0) return;
  event.step = static_cast<std::int32_t>(-thread.load);
  free_.push_back(thread.number);
  threads_.erase(found);
}

void ThreadSteps::sample(UnitEventLog& log, std::int64_t at_ns) {
  if (clock_ == nullptr || threads_.empty()) return;
  const std::size_t first = log.events.size();
  log.events.reserve(first + threads_.size());
  for (const auto& [thread, state] : threads_) {
    log.events.push_back({.at_ns = at_ns,
                          .used_ns = clock_->used_ns(thread),
                          .thread = thread,
                          .kind = UnitEvent::EventKind::sample});
  }
  for (std::size_t i = first; i < log.events.size(); ++i) note(log, i);
}

std::span<const ThreadLoads::LoadChange> ThreadLoads::pass(const UnitEvent& event) {
  const auto place = static_cast<std::size_t>(event.thread);
  if (place >= threads_.size()) threads_.resize(place + 1);
  TaggedThread& thread = threads_[place];
  thread.curve.advance(seconds_of_ns(event.at_ns));
  thread.curve.apply(event);
  if (event.weight_change() != 0) {
    auto own = std::ranges::find(thread.columns, event.column, &ColumnLoad::column);
    if (own == thread.columns.end()) {
      own = thread.columns.insert(own, ColumnLoad{.column = event.column});
    }
    own->weight += event.weight_change();
  }
  changes_.clear();
  for (ColumnLoad& own : thread.columns) {
    const auto load = std::llround(static_cast<double>(own.weight) * thread.curve.part());
    if (load != own.load) changes_.push_back({.column = own.column, .weight = load - own.load});
    own.load = load;
  }
  std::erase_if(thread.columns, [](const ColumnLoad& own) { return own.weight == 0; });
  return changes_;
}

}  // namespace wattle::detail
