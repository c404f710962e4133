#include "sampling/filtered_gauge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/numbers/median.hpp"
#include "base/numbers/value_range.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

double square_of(double x) noexcept { return x * x; }

double seconds_of(nanoseconds time) noexcept { return Seconds(time).count(); }

/// Values that stay near one level.
struct Level {
  double first_s = 0.0;
  double last_s = 0.0;
  ValueRange values;

  [[nodiscard]] double length_s() const noexcept { return last_s - first_s; }
  [[nodiscard]] double middle_w() const noexcept { return (values.low + values.high) / 2.0; }
};

std::vector<Level> levels_of(const std::vector<ShownValue>& values, double tolerance_w) {
  std::vector<Level> levels;
  for (const ShownValue& value : values) {
    if (!levels.empty()) {
      ValueRange both = levels.back().values;
      both.add(value.power_w);
      if (both.width() <= tolerance_w) {
        levels.back().values = both;
        levels.back().last_s = value.last_s;
        continue;
      }
    }
    levels.push_back({.first_s = value.first_s, .last_s = value.last_s, .values = {}});
    levels.back().values.add(value.power_w);
  }
  return levels;
}

/// The shorter one of those that are known.
double shorter(double a, double b) noexcept {
  return a > 0.0 && b > 0.0 ? std::min(a, b) : std::max(a, b);
}

/// The mean delays of a filter, by what was seen of it.
struct Delays {
  double rise_s = 0.0;
  double fall_s = 0.0;
  double off_s = 0.0;     ///< how far both can be off, by the same
  double differ_s = 0.0;  ///< by how much they can differ beyond that
  double most_s = 0.0;
};

/// A filter delays by a third of the time in which it settles (first order), a half (a mean over a
/// window, second order) or nearly two thirds (high orders); a power that takes time to rise itself
/// leaves less of that to the filter.
constexpr double kOfSettling = 0.35;
constexpr double kOffSettling = 0.3;
/// By how much a rise and a fall may be delayed unlike, as a part of their mean, where they were
/// not both seen: three times as long for the one as for the other is 1.
constexpr double kUnlike = 1.15;

Delays delays_of(const SettlingTimes& settling, double longest_s) noexcept {
  const double most_s = longest_s / (kOfSettling + kOffSettling);
  const double rise_s = std::min(settling.rise_s, most_s);
  const double fall_s = std::min(settling.fall_s, most_s);
  if (rise_s > 0.0 && fall_s > 0.0) {
    const double mean_s = (rise_s + fall_s) / 2.0;
    return {.rise_s = kOfSettling * rise_s,
            .fall_s = kOfSettling * fall_s,
            .off_s = kOffSettling * mean_s,
            .differ_s = kOfSettling * std::max(std::abs(rise_s - fall_s), mean_s / 2.0),
            .most_s = (kOfSettling + kOffSettling) * std::max(rise_s, fall_s)};
  }
  const double seen_s = std::max(rise_s, fall_s);
  if (seen_s > 0.0) {
    const double middle_s = kOfSettling * seen_s;
    return {.rise_s = middle_s,
            .fall_s = middle_s,
            .off_s = kOffSettling * seen_s,
            .differ_s = 2.0 * kUnlike * middle_s,
            .most_s = (kOfSettling + kOffSettling) * seen_s};
  }
  return {.rise_s = longest_s / 2.0,
          .fall_s = longest_s / 2.0,
          .off_s = longest_s / 2.0,
          .differ_s = kUnlike * longest_s / 2.0,
          .most_s = longest_s};
}

/// The course of the values of a window.
struct Course {
  double rises_w = 0.0;
  double falls_w = 0.0;
  double squares_w2 = 0.0;        ///< of all changes
  double bends_w2 = 0.0;          ///< of what each change differs from the one before
  double steepest_w_per_s = 0.0;  ///< of one change
  double highest_w = 0.0;
  double deepest_fall_w = 0.0;
  double longest_hold_s = 0.0;
  /// The same of a window of up to 1000 samples: all of it.
  std::vector<ShownValue> near_begin{};
  std::vector<ShownValue> near_end{};

  [[nodiscard]] double all_changes_w() const noexcept { return rises_w + falls_w; }
};

class WindowReader {
 public:
  WindowReader(const History& history, TimePoint begin, TimePoint end) noexcept
      : history_(history), scale_(history.channel().scale()), begin_(begin), end_(end) {}

  /// `before`: how long before the start values show what the filter is like.
  [[nodiscard]] Course read(nanoseconds before);

 private:
  void add(const StoredReading& reading, Uint128 changes, std::vector<ShownValue>& values);
  void add_change(double change_w, double within_s) noexcept;
  /// The time between the last value and this one is left out.
  void leave_out(const ShownValue& next, Uint128 changes, nanoseconds time) noexcept;
  [[nodiscard]] ShownValue shown(const StoredReading& reading) const noexcept;

  const History& history_;
  double scale_;
  TimePoint begin_;
  TimePoint end_;
  Course course_;
  std::optional<ShownValue> last_;
  Uint128 last_changes_ = 0;
  double last_change_w_ = 0.0;
};

ShownValue WindowReader::shown(const StoredReading& reading) const noexcept {
  return {.first_s = Seconds(reading.first_seen - begin_).count(),
          .last_s = Seconds(std::min(reading.last_confirmed, end_) - begin_).count(),
          .power_w = scale_ * static_cast<double>(reading.raw)};
}

void WindowReader::add_change(double change_w, double within_s) noexcept {
  (change_w > 0.0 ? course_.rises_w : course_.falls_w) += std::abs(change_w);
  course_.squares_w2 += square_of(change_w);
  course_.bends_w2 += square_of(change_w - last_change_w_);
  course_.steepest_w_per_s = std::max(course_.steepest_w_per_s, std::abs(change_w) / within_s);
  last_change_w_ = change_w;
}

void WindowReader::add(const StoredReading& reading, Uint128 changes,
                       std::vector<ShownValue>& values) {
  const ShownValue value = shown(reading);
  if (last_ && value.first_s <= last_->first_s) return;
  const bool follows = last_ && value.first_s - last_->last_s <= seconds_of(history_.hold());
  if (follows && value.first_s > 0.0) {
    // One more update than was seen may lie between the two.
    add_change(value.power_w - last_->power_w,
               value.first_s - last_->first_s + seconds_of(history_.spacing()));
  }
  course_.highest_w = std::max(course_.highest_w, value.power_w);
  course_.deepest_fall_w = std::max(course_.deepest_fall_w, course_.highest_w - value.power_w);
  course_.longest_hold_s = std::max(course_.longest_hold_s, value.last_s - value.first_s);
  values.push_back(value);
  last_ = value;
  last_changes_ = changes;
}

void WindowReader::leave_out(const ShownValue& next, Uint128 changes, nanoseconds time) noexcept {
  if (!last_) return;
  // Only the sum of the squares is known: the changes were at most this in all.
  const double squares_w2 = static_cast<double>(changes - last_changes_) * square_of(scale_);
  const double steps = std::max(1.0, seconds_of(time) / seconds_of(history_.spacing()));
  const double sum_w = std::sqrt(steps * squares_w2);
  const double net_w = next.power_w - last_->power_w;
  course_.rises_w += std::max(0.0, (sum_w + net_w) / 2.0);
  course_.falls_w += std::max(0.0, (sum_w - net_w) / 2.0);
  course_.squares_w2 += squares_w2;
  course_.bends_w2 += squares_w2;
  last_.reset();
}

Course WindowReader::read(nanoseconds before) {
  constexpr std::int64_t kMostSamples = 1000;
  const nanoseconds near = kMostSamples / 4 * history_.spacing();
  const TimePoint from = begin_ - before;
  const bool is_long = end_ - begin_ > 4 * near;
  const TimePoint until = is_long ? begin_ + near : end_;
  history_.values().for_each_change(from, until,
                                    [&](const StoredReading& reading, Uint128 changes) {
                                      if (reading.last_confirmed + history_.hold() < from) return;
                                      add(reading, changes, course_.near_begin);
                                    });
  if (!is_long) {
    course_.near_end = course_.near_begin;
    return std::move(course_);
  }
  bool is_first = true;
  history_.values().for_each_change(end_ - near, end_,
                                    [&](const StoredReading& reading, Uint128 changes) {
                                      if (is_first)
                                        leave_out(shown(reading), changes, end_ - begin_);
                                      is_first = false;
                                      add(reading, changes, course_.near_end);
                                    });
  return std::move(course_);
}

/// By how much the values change within `near_s` of `at_s`, and would in that time if they went on
/// as they last did, twice as fast: a slow filter shows a change slowly at first.
double change_near(const std::vector<ShownValue>& values, double at_s, double near_s) {
  ValueRange range;
  double slope_w_per_s = 0.0;
  const ShownValue* last = nullptr;
  for (const ShownValue& value : values) {
    if (value.last_s >= at_s - near_s && value.first_s <= at_s + near_s) {
      range.add(value.power_w);
      if (last != nullptr && value.first_s <= at_s) {
        slope_w_per_s = (value.power_w - last->power_w) / (value.first_s - last->first_s);
      }
    }
    last = &value;
  }
  return range.width() + 2.0 * std::abs(slope_w_per_s) * near_s;
}

/// How often the values change, where they do: the middle one of all times between two.
double pace_of(const std::vector<ShownValue>& values) {
  std::vector<double> gaps_s;
  for (std::size_t i = 1; i < values.size(); ++i) {
    gaps_s.push_back(values[i].first_s - values[i - 1].first_s);
  }
  return gaps_s.empty() ? 0.0 : upper_median(gaps_s);
}

}  // namespace

SettlingTimes settling_times(const std::vector<ShownValue>& values) {
  constexpr double kLeastRange = 0.1;    // of the highest value, that shows a filter
  constexpr double kLevel = 0.08;        // of the range: how level a level is
  constexpr double kLeastStep = 0.3;     // of the range, from one level to another
  constexpr double kLeastLevelS = 1.25;  // values may freeze for a second
  constexpr double kBefore = 0.25;       // of the time taken, that the first level lasts
  ValueRange all;
  for (const ShownValue& value : values) all.add(value.power_w);
  if (all.width() < kLeastRange * all.high) return {};
  const std::vector<Level> levels = levels_of(values, kLevel * all.width());
  SettlingTimes shortest;
  for (std::size_t from = 0; from + 2 < levels.size(); ++from) {
    double pace_s = 0.0;
    // A jump from one level to the next shows nothing: how often the value is renewed is not known.
    for (std::size_t to = from + 2; to < levels.size(); ++to) {
      pace_s = std::max(pace_s, levels[to].first_s - levels[to - 1].first_s);
      const double took_s = levels[to].first_s - levels[from].last_s + pace_s;
      if (levels[from].length_s() < std::max(kBefore * took_s, 2.0 * pace_s)) break;
      if (levels[to].length_s() < std::max({took_s, 3.0 * pace_s, kLeastLevelS})) continue;
      const double change_w = levels[to].middle_w() - levels[from].middle_w();
      if (std::abs(change_w) >= kLeastStep * all.width()) {
        double& time_s = change_w > 0.0 ? shortest.rise_s : shortest.fall_s;
        time_s = shorter(time_s, took_s);
      }
      break;  // what comes later is another change
    }
  }
  return shortest;
}

FilteredEnergy filtered_energy(const History& history, TimePoint begin, TimePoint end,
                               Joules shown) {
  const GaugeTraits& gauge = history.channel().gauge;
  const nanoseconds stated = gauge.longest_lag.value_or(nanoseconds(0));
  const Course course = WindowReader(history, begin, end).read(stated);
  const double length_s = seconds_of(end - begin);
  const double spacing_s = seconds_of(history.spacing());
  const double late_s = seconds_of(history.longest_age()) / 2.0;
  const double pace_s =
      std::clamp(pace_of(course.near_begin), spacing_s, std::max(spacing_s, seconds_of(stated)));

  // Values that are steep have not gone through a slow filter, however much the power changed.
  constexpr double kMostPowerW = 1000.0;
  const double most_w = std::max(kMostPowerW, 2.0 * course.highest_w);
  const double steep_s =
      course.steepest_w_per_s > 0.0 ? most_w / course.steepest_w_per_s : seconds_of(stated);
  const double longest_s = std::min(seconds_of(stated), steep_s) + (pace_s - spacing_s) / 2.0;
  const SettlingTimes first = settling_times(course.near_begin);
  const SettlingTimes last = settling_times(course.near_end);
  const Delays delays = delays_of(
      {.rise_s = shorter(first.rise_s, last.rise_s), .fall_s = shorter(first.fall_s, last.fall_s)},
      longest_s);

  const double energy_j = shown.si() + (delays.rise_s + late_s) * course.rises_w -
                          (delays.fall_s + late_s) * course.falls_w;
  const double net_j = delays.off_s * (course.rises_w - course.falls_w);
  const double unlike_j = delays.differ_s / 2.0 * course.all_changes_w();
  constexpr double kOfChange = 0.2;
  const double ends_j = kOfChange * delays.most_s *
                        std::hypot(change_near(course.near_begin, 0.0, delays.most_s),
                                   change_near(course.near_end, length_s, delays.most_s));
  const double moved_j2 =
      course.squares_w2 * square_of(spacing_s) / 6.0 + course.bends_w2 * square_of(pace_s) / 1.5;
  const double frozen_s = std::min(seconds_of(gauge.freezes), course.longest_hold_s);
  const double frozen_j2 = square_of(course.deepest_fall_w * frozen_s) / 1.875;
  constexpr double kRipple = 0.11;  // of a load that swings at the pace of the filter, over 1 s
  const double ripple_j2 =
      8.0 * square_of(kRipple * shown.si() / length_s * std::min(longest_s, 1.0));
  const double rounding_j2 = square_of(length_s * history.channel().scale()) / 3.0;
  return {
      .energy = Joules(std::max(energy_j, 0.0)),
      .uncertainty = Joules(std::sqrt(square_of(net_j) + square_of(unlike_j) + square_of(ends_j) +
                                      moved_j2 + frozen_j2 + ripple_j2 + rounding_j2)),
      .common = Joules(-net_j - unlike_j)};
}

}  // namespace wattle
