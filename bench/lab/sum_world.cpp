#include "lab/sum_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/numbers/reservoir.hpp"
#include "runs/run_cost.hpp"
#include "runs/run_sum.hpp"
#include "sampling/counters/seen_end.hpp"
#include "sampling/integrate.hpp"
#include "sampling/read_on.hpp"

namespace wattle::lab {
namespace {

using std::chrono::nanoseconds;

/// By how much boards of one kind differ in their pace.
constexpr double kBetweenCounters = 0.1;
constexpr double kBetweenGauges = 0.01;

nanoseconds of_seconds(double seconds) { return nanoseconds(std::llround(seconds * 1e9)); }

/// Reads one channel of a world, as a run does.
class Reader {
 public:
  Reader(World& world, std::size_t channel, const Channel& described)
      : world_(world),
        channel_(channel),
        history_(described,
                 {.period = of_seconds(world.lane_s()), .memory_limit = kMinTimelineBytes}) {}

  void read(double time_s) {
    world_.wait_until(time_s);
    history_.add(world_.read(channel_));
  }
  [[nodiscard]] const History& history() const noexcept { return history_; }

 private:
  World& world_;
  std::size_t channel_;
  History history_;
};

/// What a counter that pauses shows to whoever watches it.
void see_pauses(const CounterModel& counter, UpdateInterval& update) {
  if (counter.pause_s <= 0.0) return;
  const double usual_s = counter.update.mean_s;
  const double usual = (counter.between_pauses_s - counter.pause_s) / usual_s;  // and a pause
  const double mean_s = counter.between_pauses_s / (usual + 1.0);
  const double square_s2 =
      (usual * usual_s * usual_s + counter.pause_s * counter.pause_s) / (usual + 1.0);
  update.mean = of_seconds(mean_s);
  update.spread = of_seconds(std::sqrt(square_s2 - mean_s * mean_s));
  update.p99 = of_seconds(counter.pause_s);
}

struct MeasuredRun {
  double truth_j = 0.0;
  double raw_j = 0.0;
  Report record{};
};

struct RunSums {
  double truth_j = 0.0;
  double raw_j = 0.0;
  double energy_j = 0.0;
  std::vector<SummedRun> runs{};  ///< of one board
  UncertaintySum errors{};        ///< of all boards before it
  bool is_in_step = false;
  Joules unseen{};
};

/// Where runs of one board are in its updates. In seconds.
struct RunTiming {
  double start_s = 0.0;
  double length_s = 0.0;
  double phase_s = 0.0;  ///< in step: since an update
};

/// All starts are within a hundredth of an update of the same phase.
RunTiming timing_in_step(const SumCell& cell, double update_s, std::size_t run, Random& random,
                         const RunTiming& first) {
  constexpr double kJitter = 0.01;
  if (run == 0) {
    const double updates = std::floor(cell.window_s / update_s) + random.uniform();
    return {.length_s = updates * update_s, .phase_s = random.uniform() * update_s};
  }
  RunTiming timing = first;
  const double jitter_s = kJitter * random.uniform(-1.0, 1.0) * update_s;
  const double loop_s = (std::ceil(cell.window_s / update_s) + 3.0) * update_s;
  timing.start_s = static_cast<double>(run) * loop_s + jitter_s;
  timing.phase_s += jitter_s;
  return timing;
}

/// Runs differ by a part of their length, and start at any time after the one before.
RunTiming timing_at_random(const SumCell& cell, Random& random, const RunTiming& before) {
  return {.start_s = before.start_s + before.length_s + random.exponential(cell.window_s),
          .length_s = cell.window_s * (1.0 + 0.05 * random.uniform(-1.0, 1.0))};
}

/// As `wattle run` does after the end.
void read_on(Reader& reader, double end_s, double update_s, double length_s) {
  constexpr double kOfUpdate = 0.1;
  const double until_s = end_s + Seconds(longest_reading_on(of_seconds(length_s))).count();
  const bool is_in_lane = reader.history().channel().domain.kind() == DomainKind::nvidia_gpu;
  const std::size_t wanted = is_in_lane ? SeenEnd::kFewest : SeenEnd::kUpdates;
  const auto shown = [&] { return reader.history().last()->ticks; };
  std::size_t updates = 0;
  std::uint64_t ticks = shown();
  for (double at_s = end_s + kOfUpdate * update_s; at_s < until_s && updates < wanted;
       at_s += kOfUpdate * update_s) {
    reader.read(at_s);
    if (shown() != ticks) ++updates;
    ticks = shown();
  }
}

/// What is measured of one run.
MeasuredRun measured_run(const SumCell& cell, const Machine& machine, const Load& load,
                         const RunTiming& timing, std::uint64_t seed) {
  World world(machine, load, seed);
  const bool is_counter = machine.counter.has_value();
  const std::size_t channel = is_counter ? World::counter_channel() : world.gauge_channel();
  Channel described = world.sensor().channels()[channel];
  described.update.is_observed = cell.is_observed;
  if (is_counter && cell.is_observed) see_pauses(*machine.counter, described.update);
  if (!cell.is_observed && is_counter) {
    // The pace of the kind, not that of the board.
    described.update.mean = of_seconds(cell.machine.counter->update.mean_s);
  }
  Reader reader(world, channel, described);
  const double update_s =
      is_counter ? machine.counter->update.mean_s : machine.gauge->update.mean_s;
  const double pace_s = cell.is_followed ? update_s : world.lane_s();
  const double phase = world.random().uniform();
  if (cell.is_followed) {
    for (int i = 10; i > 0; --i) reader.read(timing.phase_s + (phase - i) * update_s);
  } else if (cell.is_read_before) {
    reader.read(timing.phase_s - 3.0 * update_s);
  }
  reader.read(timing.phase_s);
  const std::optional<Boundary> first = reader.history().last();
  const double begin_s = is_counter ? World::seconds_of(first->at) : world.now_s();
  const double end_s = begin_s + timing.length_s;
  world.work_between(begin_s, end_s);
  for (double at_s = begin_s + pace_s; at_s < end_s; at_s += pace_s) reader.read(at_s);
  reader.read(end_s);
  const std::optional<Boundary> last = reader.history().last();
  if (cell.is_read_on) read_on(reader, end_s, update_s, timing.length_s);
  const TimePoint begin = World::time_point(begin_s);
  const TimePoint end = is_counter ? last->at : World::time_point(end_s);
  MeasuredRun run;
  EnergyFigure figure;
  if (is_counter) {
    figure = counter_energy(reader.history(), {begin, end, first, last});
    run.raw_j = described.scale() * static_cast<double>(last->ticks - first->ticks);
  } else {
    figure = gauge_energy(reader.history(), begin, end, end);
    const EnergyFigure shown = gauge_energy(reader.history(), begin, end);
    run.raw_j = shown.energy.value_or(Joules()).si();
  }
  run.truth_j = world.energy_j(begin, end);
  EnergyReport report{.total = {.energy = figure.energy,
                                .uncertainty = figure.uncertainty,
                                .common = figure.common}};
  report.domains.push_back(figure_of(described, std::move(figure)));
  run.record.wall = Seconds(timing.length_s);
  run.record.started_unix_s = timing.start_s;
  run.record.ended_unix_s = timing.start_s + timing.length_s;
  run.record.energy = std::move(report);
  return run;
}

void add_run(const MeasuredRun& run, RunSums& sums) {
  sums.truth_j += run.truth_j;
  sums.raw_j += run.raw_j;
  sums.energy_j += run.record.energy.total.energy.value_or(Joules()).si();
  sums.runs.push_back(summed_run(run.record));
}

void set_pace(Machine& machine, double chance) {
  if (machine.counter) machine.counter->update.mean_s *= 1.0 + kBetweenCounters * chance;
  if (machine.gauge) machine.gauge->update.mean_s *= 1.0 + kBetweenGauges * chance;
}

/// All runs of one board, by its number.
void add_board(const SumCell& cell, std::size_t board, Random& random, RunSums& sums) {
  constexpr double kMostFalse = 0.01;
  Machine machine = cell.machine;
  set_pace(machine, random.uniform(-1.0, 1.0));
  machine.random_phase = !cell.is_in_step;
  const double update_s =
      machine.counter ? machine.counter->update.mean_s : machine.gauge->update.mean_s;
  RunTiming first;
  RunTiming timing;
  for (std::size_t run = 0; run < cell.runs; ++run) {
    timing = cell.is_in_step ? timing_in_step(cell, update_s, run, random, first)
                             : timing_at_random(cell, random, timing);
    if (run == 0) first = timing;
    // Boards with one run each have the loads in turn.
    const Load& load = cell.loads[(run + board) % cell.loads.size()];
    add_run(measured_run(cell, machine, load, timing, random.bits()), sums);
  }
  const RunSum sum = sum_of_runs(std::exchange(sums.runs, {}), kMostFalse);
  sums.errors.add(sum.uncertainty, sum.common);
  sums.is_in_step = sums.is_in_step || sum.is_in_step;
  sums.unseen += sum.unseen;
}

}  // namespace

std::string SumCell::name() const {
  const char* how = is_followed ? "followed" : is_read_before ? "read before" : "not read before";
  return fmt::format("{}, {}, {} runs, {} boards, {}{}{}{}", sensor, kind, runs, boards, how,
                     is_read_on ? " and on" : "", is_observed ? "" : ", published interval",
                     is_in_step ? ", in step" : "");
}

std::string_view SumCell::limit() const {
  if (!machine.counter) return {};
  if (kind == "falls" && !is_read_before && !is_followed) {
    return "more than twice the power of the run was drawn before it, and nobody looked";
  }
  if (kind == "transients" && !is_followed && !is_read_on)
    return "the power changed after the last reading";
  if (machine.counter->pause_s > 0.0) {
    if (!is_observed) return "nobody saw that it pauses";
    if (kind == "falls") return "in a pause it did not show the higher power before the run";
  }
  return {};
}

SumResult simulate_sums(const SumCell& cell, std::size_t trials, std::uint64_t seed) {
  std::vector<double> raw_errors;
  std::vector<double> half_widths;
  SumResult result;
  Random random(seed);
  for (std::size_t trial = 0; trial < trials; ++trial) {
    RunSums sums;
    for (std::size_t board = 0; board < cell.boards; ++board) {
      add_board(cell, board, random, sums);
    }
    const double half_width_j = sums.errors.uncertainty().si();
    const double error_j = sums.energy_j - sums.truth_j;
    if (std::abs(error_j) <= half_width_j) result.coverage += 1.0;
    if (sums.is_in_step) result.in_step += 1.0;
    const bool is_sum = cell.runs > 1 || cell.boards > 1;
    const Joules uncertainty = sums.errors.uncertainty();
    if (is_sum && is_material(sums.unseen, uncertainty, Joules(sums.energy_j))) {
      result.unseen += 1.0;
    }
    result.mean_error += error_j / sums.truth_j;
    result.mean_error_of_raw += (sums.raw_j - sums.truth_j) / sums.truth_j;
    raw_errors.push_back(std::abs(sums.raw_j - sums.truth_j) / sums.truth_j);
    half_widths.push_back(half_width_j / sums.truth_j);
  }
  const auto count = static_cast<double>(trials);
  result.coverage /= count;
  result.in_step /= count;
  result.unseen /= count;
  result.mean_error /= count;
  result.mean_error_of_raw /= count;
  result.median_half_width = wattle::quantile<double>(wattle::sorted<double>(half_widths), 0.5);
  result.p95_of_raw = wattle::quantile<double>(wattle::sorted<double>(raw_errors), 0.95);
  return result;
}

ComparedCells simulate_comparisons(const SumCell& a, const SumCell& b, std::size_t trials,
                                   std::uint64_t seed) {
  std::vector<double> half_widths;
  std::vector<double> commons;
  ComparedCells result;
  Random random(seed);
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Machine machine = a.machine;
    set_pace(machine, random.uniform(-1.0, 1.0));
    machine.random_phase = true;
    std::array<RunSums, 2> sums;
    std::array<std::vector<RunCost>, 2> costs;
    for (std::size_t round = 1; round <= a.runs; ++round) {
      for (const std::size_t side : {0U, 1U}) {
        const SumCell& cell = side == 0 ? a : b;
        const MeasuredRun run = measured_run(cell, machine, cell.loads[round % cell.loads.size()],
                                             timing_at_random(cell, random, {}), random.bits());
        sums.at(side).truth_j += run.truth_j;
        costs.at(side).push_back(cost_of(run.record));
        costs.at(side).back().round = round;
      }
    }
    const Comparison found = compare(Cost::energy, costs[0], costs[1], true);
    const ConfidenceInterval interval = found.ratio->interval.value();
    const double truth = std::log(sums[1].truth_j / sums[0].truth_j);
    if (interval.contains(truth)) result.coverage += 1.0 / static_cast<double>(trials);
    half_widths.push_back((interval.high - interval.low) / 2.0);
    commons.push_back(found.ratio->common);
  }
  result.median_half_width = median_of(std::move(half_widths));
  result.median_common = median_of(std::move(commons));
  return result;
}

}  // namespace wattle::lab
