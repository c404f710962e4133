#include "lab/estimators.hpp"

#include <algorithm>
#include <array>

#include "lab/common_ways.hpp"
#include "sampling/energy_window.hpp"

namespace wattle::lab {
namespace {

Estimate estimate_of(const EnergyFigure& figure, TimePoint begin, TimePoint end) {
  Estimate estimate{.begin = begin, .end = end, .flags = figure.flags};
  if (figure.energy) {
    estimate.energy_j = figure.energy->si();
    estimate.half_width_j = figure.uncertainty.si();
  }
  return estimate;
}

/// A window, and when its first and its last value were read: what lies outside is unknown to it.
class WatchedWindow {
 public:
  explicit WatchedWindow(const Channel& channel) : window_(channel) {}

  void add(const Reading& reading, bool ends_interval) noexcept {
    window_.add(reading, ends_interval);
    if (reading.status != ReadStatus::ok) return;
    if (!begin_) begin_ = reading.at;
    end_ = reading.at;
  }
  [[nodiscard]] Estimate estimate(TimePoint begin, TimePoint end) const {
    return estimate_of(window_.figure(begin, end), begin_.value_or(begin), end_.value_or(end));
  }

 private:
  EnergyWindow window_;
  std::optional<TimePoint> begin_;
  std::optional<TimePoint> end_;
};

Estimate plain(World& world, double length_s) {
  constexpr double kLanePeriodS = 0.1;
  const std::size_t channel = World::counter_channel();
  WatchedWindow window(world.sensor().channels()[channel]);

  world.wait_until(0.0);
  const Reading first = world.read(channel);
  const double begin_s = World::seconds_of(first.at);
  const double end_s = begin_s + length_s;
  world.work_between(world.now_s(), end_s);
  window.add(first, false);
  for (double due_s = begin_s + kLanePeriodS; due_s < end_s; due_s += kLanePeriodS) {
    world.wait_until(due_s);
    window.add(world.read(channel), true);
  }
  world.wait_until(end_s);
  const Reading last = world.read(channel);
  window.add(last, false);
  return window.estimate(first.at, last.at);
}

constexpr std::array kModes = {
    Way{"plain", true, false, plain},
};

constexpr std::array kCommonWays = {
    Way{"two reads", true, false, two_reads},
    Way{"trapezoid", false, true, trapezoid},
    Way{"1 s polls", false, true, one_second_polls},
};

}  // namespace

std::span<const Way> modes() noexcept { return kModes; }

std::span<const Way> common_ways() noexcept { return kCommonWays; }

const Way* find_mode(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kModes, name, &Way::name);
  return found == kModes.end() ? nullptr : found;
}

bool can_use(const Way& way, const Machine& machine) noexcept {
  return (!way.needs_counter || machine.counter) && (!way.needs_gauge || machine.gauge);
}

}  // namespace wattle::lab
