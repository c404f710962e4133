#include "meter_world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace wattle::test {
namespace {

constexpr double kTick = 0.005;   ///< of the truth
constexpr double kMargin = 15.0;  ///< the meter's log and the truth are longer than the run
constexpr double kBegin = 1'790'000'000.0;

/// Threads: one at a time.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double between(double least, double most) {
    return least + (most - least) * static_cast<double>(engine_() >> 11U) * 0x1p-53;
  }
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += between(0.0, 1.0);
    return sum;
  }
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  std::mt19937_64 engine_;
};

struct Device {
  const char* name;
  double idle_w;
  double most_w;
};
constexpr std::array kDevices = {Device{"package_0", 40.0, 190.0}, Device{"package_1", 35.0, 180.0},
                                 Device{"dram_0", 6.0, 28.0}, Device{"nvidia_gpu_0", 30.0, 320.0},
                                 Device{"nvidia_gpu_1", 28.0, 300.0}};

using Course = std::vector<double>;

/// Levels that change every 1 to 8 s, with noise.
Course varied_load(Dice& dice, const Device& device, std::size_t ticks) {
  Course course;
  double left_s = 0.0;
  double level = 0.0;
  double noise = 0.0;
  while (course.size() < ticks) {
    if (left_s <= 0.0) {
      left_s = dice.between(1.0, 8.0);
      level = dice.between(0.0, 1.0) < 0.3 ? 0.0 : dice.between(0.1, 1.0);
    }
    noise = 0.98 * noise + 0.01 * dice.normal() * (0.2 + level);
    const double part = std::max(0.0, level + noise * 0.2);
    course.push_back(device.idle_w + part * (device.most_w - device.idle_w));
    left_s -= kTick;
  }
  return course;
}

double mean_of(const Course& course, double from_s, double to_s) {
  const auto first = static_cast<std::size_t>(std::max(0.0, from_s / kTick));
  const auto last =
      std::min(course.size(), std::max(static_cast<std::size_t>(to_s / kTick), first + 1));
  double sum = 0.0;
  for (std::size_t i = first; i < last; ++i) sum += course[i];
  return sum / static_cast<double>(last - first);
}

/// A course as a meter sees it. Threads: a value type.
struct MeterOptics {
  double window_s = 0.0;
  double filter_s = 0.0;  ///< a filter of first order

  [[nodiscard]] Course filtered(const Course& course) const {
    Course filtered = course;
    for (std::size_t i = 1; i < course.size() && filter_s > 0.0; ++i) {
      filtered[i] = filtered[i - 1] + (course[i] - filtered[i - 1]) * kTick / filter_s;
    }
    return filtered;
  }
};

/// The truth of the rows at `times_s`. `courses`: each device at the meter; `wrong`: what the
/// wrong sensor shows less.
std::vector<MeterRowTruth> row_truths(const std::vector<double>& times_s, const MeterOptics& optics,
                                      const std::vector<Course>& courses, const Course& wrong,
                                      double digit_w, double period_s) {
  constexpr double kReach = 0.02;  // seconds: times are known to this
  constexpr double kOfSensor = 0.005;
  constexpr double kInterval = 0.1;
  std::vector<Course> seen;
  seen.reserve(courses.size());
  for (const Course& course : courses) seen.push_back(optics.filtered(course));
  const Course unseen = optics.filtered(wrong);
  const double mean_over_s = std::max({kInterval, optics.window_s, 2.0 * optics.filter_s});
  const double jitter_s = std::hypot(0.02 * period_s, kReach);
  std::vector<MeterRowTruth> rows;
  for (const double time_s : times_s) {
    MeterRowTruth& row = rows.emplace_back(MeterRowTruth{.time_s = time_s});
    const double from_s = time_s - optics.window_s;
    row.unseen_w = mean_of(unseen, from_s, time_s);
    double sum_w = 0.0;
    double change_w = 0.0;
    double squares = digit_w * digit_w / 12.0;
    for (const Course& one : seen) {
      row.devices_w.push_back(mean_of(one, from_s, time_s));
      const double power_w = row.devices_w.back();
      sum_w += power_w;
      change_w += mean_of(one, from_s + kReach, time_s + kReach) -
                  mean_of(one, from_s - kReach, time_s - kReach);
      squares += kOfSensor * kOfSensor * power_w * power_w * kInterval / mean_over_s;
    }
    const double shaken_w = change_w / (2.0 * kReach) * jitter_s;
    row.error_w = std::sqrt(squares + shaken_w * shaken_w + 0.002 * 0.002 * sum_w * sum_w);
  }
  return rows;
}

/// A load that repeats faster than the sensor's values, on half of the time.
void add_fast_load(Dice& dice, Course& course, double period_s, double depth_w) {
  double left_s = 0.0;
  bool is_on = false;
  for (std::size_t i = 0; i < course.size(); ++i) {
    if (left_s <= 0.0) {
      left_s = dice.between(8.0, 20.0);
      is_on = !is_on || dice.between(0.0, 1.0) < 0.5;
    }
    left_s -= kTick;
    const double phase = std::fmod(static_cast<double>(i) * kTick, period_s) / period_s;
    if (is_on && phase < 0.5) course[i] += depth_w;
  }
}

}  // namespace

MeterWorld meter_world(std::uint64_t seed, const MeterWorldOptions& options) {
  Dice dice(seed * 7919 + static_cast<std::uint64_t>(options.wrong) * 104729 + 17);
  const auto ticks = static_cast<std::size_t>((options.length_s + 2.0 * kMargin) / kTick);
  MeterWorld world;
  const std::size_t culprit = dice.below(kDevices.size());
  std::vector<Course> truth;
  for (const Device& device : kDevices) truth.push_back(varied_load(dice, device, ticks));
  // Memory is used by the packages' work.
  const double shared = dice.between(0.0, 0.7);
  for (std::size_t i = 0; i < ticks; ++i) {
    const double use =
        (truth[0][i] - kDevices[0].idle_w) / (kDevices[0].most_w - kDevices[0].idle_w);
    truth[2][i] += shared * 10.0 * use;
  }
  constexpr double kInterval = 0.1;
  if (options.wrong == WrongSensor::aliasing) {
    const Device& device = kDevices[culprit];
    const double beat_s = dice.between(3.0, 15.0);
    // Its values are those of single moments, every 0.1 s.
    const double period_s = 1.0 / (1.0 / kInterval + 1.0 / beat_s);
    add_fast_load(dice, truth[culprit], period_s,
                  dice.between(0.5, 1.0) * (device.most_w - device.idle_w));
  }
  // What no sensor covers: disks, board, fans that follow the heat.
  const double board_w = dice.between(30.0, 120.0);
  const double fan_part = dice.between(0.0, 0.03);
  const double efficiency = dice.between(0.85, 0.96);
  const double meter_gain = dice.between(0.99, 1.01);
  Course wall;
  double rest = 0.0;
  double heat = 0.0;
  for (std::size_t i = 0; i < ticks; ++i) {
    double sum = 0.0;
    for (const Course& course : truth) sum += course[i];
    heat += (sum - heat) * kTick / 20.0;
    if (i == 0) heat = sum;
    rest = 0.999 * rest + 0.045 * board_w * 0.02 * dice.normal();
    wall.push_back((sum + board_w + rest + fan_part * heat) * meter_gain / efficiency);
  }
  const double period_s =
      options.period_s > 0.0 ? options.period_s : std::array{0.1, 0.2, 0.5, 1.0}.at(dice.below(4));
  const bool is_mean = dice.between(0.0, 1.0) < 0.6;
  // A meter of alternating current needs some of its periods.
  const double window_s = is_mean ? period_s : std::min(period_s, dice.between(0.04, 0.2));
  const double filter_s = dice.between(0.0, 1.0) < 0.5 ? 0.0 : dice.between(0.1, 1.5);
  world.shift_s = dice.between(-5.0, 5.0);
  const double digit_w = dice.between(0.0, 1.0) < 0.5 ? 0.1 : 1.0;
  const MeterOptics optics{.window_s = window_s, .filter_s = filter_s};
  const Course filtered = optics.filtered(wall);
  std::vector<double> times_s;
  for (double time_s = period_s + dice.between(0.0, period_s);
       time_s < static_cast<double>(ticks) * kTick; time_s += period_s) {
    if (time_s - window_s > kMargin && time_s < kMargin + options.length_s) {
      times_s.push_back(time_s);
    }
    double power_w = mean_of(filtered, time_s - window_s, time_s);
    power_w *= 1.0 + 0.002 * dice.normal();
    if (dice.between(0.0, 1.0) < 0.003) power_w *= 3.0;
    const double jitter_s = 0.02 * period_s * dice.normal();
    world.meter.push_back({.time_s = kBegin + time_s + jitter_s + world.shift_s,
                           .power_w = std::round(power_w / digit_w) * digit_w});
  }
  const double to_meter = meter_gain / efficiency;
  Course unseen(ticks, 0.0);
  for (std::size_t d = 0; d < kDevices.size(); ++d) {
    const bool is_wrong = options.wrong != WrongSensor::none && d == culprit;
    const double gain = dice.between(0.9, 1.1);
    const double late_s =
        dice.between(0.0, 0.05) +
        (is_wrong && options.wrong == WrongSensor::late ? dice.between(1.0, 5.0) : 0.0);
    const double unit = is_wrong && options.wrong == WrongSensor::unit
                            ? (dice.between(0.0, 1.0) < 0.5 ? 1000.0 : 0.001)
                            : 1.0;
    std::vector<PowerStep> steps;
    double stuck_w = -1.0;
    for (double time_s = kMargin; time_s < kMargin + options.length_s; time_s += kInterval) {
      const double to_s = time_s + kInterval - late_s;
      double power_w = is_wrong && options.wrong == WrongSensor::aliasing
                           ? mean_of(truth[d], to_s, to_s)
                           : mean_of(truth[d], to_s - kInterval, to_s);
      power_w *= gain * unit * (1.0 + 0.005 * dice.normal());
      if (is_wrong && options.wrong == WrongSensor::stuck) {
        if (stuck_w < 0.0) stuck_w = power_w;
        power_w = stuck_w;
      }
      for (auto i =
               static_cast<std::size_t>(to_s / kTick) - static_cast<std::size_t>(kInterval / kTick);
           is_wrong && i < static_cast<std::size_t>(to_s / kTick); ++i) {
        unseen[i] = to_meter * (truth[d][i] - power_w / (gain * unit));
      }
      steps.push_back({kBegin + time_s, kBegin + time_s + kInterval, power_w});
    }
    world.domains.push_back({.name = kDevices[d].name, .power = PowerCurve(std::move(steps))});
    world.energy_j.push_back(mean_of(truth[d], kMargin, kMargin + options.length_s) *
                             options.length_s * meter_gain / efficiency);
    if (is_wrong) world.culprit = kDevices[d].name;
  }
  for (Course& course : truth) {
    for (double& power_w : course) power_w *= to_meter;
  }
  world.rest_w = 0.02 * board_w * to_meter;
  world.rows = row_truths(times_s, optics, truth, unseen, digit_w, period_s);
  return world;
}

}  // namespace wattle::test
