#include "lab/share_world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "estimate/energy_share.hpp"
#include "lab/random.hpp"

namespace wattle::lab {
namespace {

constexpr std::size_t kMostCommands = 4;  // the measured one is the first
constexpr Seconds kSlot{0.5};
constexpr std::size_t kSlotsInSpan = 2;

/// The power of a second of CPU time differs between commands by about this, as a standard
/// deviation of its logarithm.
constexpr double kIntensitySpread = 0.25;

struct Command {
  unsigned threads = 0;
  double intensity = 1.0;
  double duty = 1.0;  ///< the part of the time in which it runs
};

/// One machine and the commands on it.
struct World {
  std::vector<std::array<int, 2>> cores;  ///< whose thread each runs, -1: nobody's
  std::vector<Command> commands;
  double exponent = 1.0;
  double idle_w = 0.0;
  double span_w = 0.0;      ///< between idle and full load
  double smt_factor = 1.0;  ///< what two threads on a core draw of the sum of both
  double background = 0.0;  ///< cores in use by what always runs; its power is in `idle_w`
};

double exponent_in(PowerCurve curve, Random& random) {
  switch (curve) {
    case PowerCurve::concave:
      return random.uniform(0.25, 0.9);
    case PowerCurve::convex:
      return random.uniform(1.1, 2.0);
    case PowerCurve::linear:
      break;
  }
  return 1.0;
}

unsigned up_to(Random& random, unsigned most) {
  return 1 + static_cast<unsigned>(random.uniform() * most);
}

/// Threads take free cores first, as a scheduler gives them; commands in any order.
void place_threads(World& world, bool shares_cores, Random& random) {
  std::vector<int> threads;
  for (std::size_t command = 0; command < world.commands.size(); ++command) {
    threads.insert(threads.end(), world.commands[command].threads, static_cast<int>(command));
  }
  for (std::size_t i = threads.size(); i > 1; --i) {
    std::swap(threads[i - 1],
              threads[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
  }
  const std::size_t cores = world.cores.size();
  const std::size_t places = shares_cores ? 2 * cores : cores;
  for (std::size_t i = 0; i < std::min(threads.size(), places); ++i) {
    world.cores[i % cores].at(i / cores) = threads[i];
  }
}

World make_world(const ShareCell& cell, Random& random) {
  World world;
  world.cores.assign(std::size_t{4} << static_cast<unsigned>(random.uniform() * 3.0), {-1, -1});
  world.exponent = exponent_in(cell.curve, random);
  world.span_w = random.uniform(60.0, 300.0);
  world.idle_w = world.span_w * random.uniform(0.1, 0.6);
  world.smt_factor = cell.shares_cores ? random.uniform(0.55, 0.85) : 1.0;
  world.background = random.uniform(0.0, 0.05);
  auto left = static_cast<unsigned>(world.cores.size() * (cell.shares_cores ? 2 : 1));
  for (unsigned i = 0; i <= cell.others; ++i) {
    Command command;
    command.threads = up_to(random, left - (cell.others - i));
    left -= command.threads;
    command.intensity = std::exp(kIntensitySpread * random.normal());
    if (random.chance(0.5)) command.duty = random.uniform(0.3, 1.0);
    world.commands.push_back(command);
  }
  place_threads(world, cell.shares_cores, random);
  return world;
}

/// Power above idle while the commands of a set run: a bit for each.
double worth(const World& world, unsigned set) {
  double load = 0.0;
  for (const auto& core : world.cores) {
    const auto intensity = [&](int thread) {
      const bool runs = thread >= 0 && (set >> static_cast<unsigned>(thread) & 1U) != 0;
      return runs ? world.commands[static_cast<std::size_t>(thread)].intensity : 0.0;
    };
    const double first = intensity(core[0]);
    const double second = intensity(core[1]);
    load += first > 0.0 && second > 0.0 ? (first + second) * world.smt_factor : first + second;
  }
  if (load <= 0.0) return 0.0;
  return world.span_w * std::pow(load / static_cast<double>(world.cores.size()), world.exponent);
}

/// Power above idle of every set of commands, and the first command's Shapley value in each.
struct Game {
  std::array<double, 1U << kMostCommands> worth{};
  std::array<double, 1U << kMostCommands> own{};
};

double shapley_value(const Game& game, unsigned set) {
  // Of n players the first joins each set of s others with weight s! (n - 1 - s)! / n!.
  constexpr std::array<double, kMostCommands + 1> kFactorial = {1, 1, 2, 6, 24};
  const auto players = static_cast<unsigned>(__builtin_popcount(set));
  double value = 0.0;
  for (unsigned others = 0; others <= set; others += 2) {
    if ((others & set) != others) continue;
    const auto size = static_cast<unsigned>(__builtin_popcount(others));
    const double weight =
        kFactorial.at(size) * kFactorial.at(players - 1 - size) / kFactorial.at(players);
    value += weight * (game.worth.at(others | 1U) - game.worth.at(others));
  }
  return value;
}

Game make_game(const World& world) {
  Game game;
  const unsigned sets = 1U << world.commands.size();
  for (unsigned set = 1; set < sets; ++set) game.worth.at(set) = worth(world, set);
  for (unsigned set = 1; set < sets; set += 2) game.own.at(set) = shapley_value(game, set);
  return game;
}

/// A run as Wattle sees it, and what Wattle does not see.
struct Run {
  std::vector<ShareSpan> spans;
  Joules measured;
  double truth_j = 0.0;
};

double rounded_to(double value, double unit) { return std::round(value / unit) * unit; }

/// Commands stop and go on by chance, so that each runs for its part of the time.
unsigned running_now(const World& world, unsigned before, Random& random) {
  constexpr double kChange = 0.3;  // a slot in which it is decided anew
  unsigned set = 0;
  for (unsigned command = 0; command < world.commands.size(); ++command) {
    const bool decides = random.chance(kChange);
    const bool runs =
        decides ? random.chance(world.commands[command].duty) : (before >> command & 1U) != 0;
    if (runs) set |= 1U << command;
  }
  return set;
}

Run run_on(const World& world, const ShareCell& cell, double idle_w, Random& random) {
  constexpr double kTickJ = 1.0 / 16384.0;
  constexpr double kTickS = 0.01;
  const Game game = make_game(world);
  Run run;
  unsigned running = (1U << world.commands.size()) - 1;
  double clock = 1.0;
  const std::size_t spans = 4 + static_cast<std::size_t>(random.uniform() * 12.0);
  for (std::size_t span = 0; span < spans; ++span) {
    ShareSpan seen{.wall = kSlot * kSlotsInSpan};
    double energy = idle_w * seen.wall.count();
    for (std::size_t slot = 0; slot < kSlotsInSpan; ++slot) {
      running = running_now(world, running, random);
      if (cell.changes_clock && random.chance(0.25)) clock = random.uniform(0.7, 1.3);
      energy += game.worth.at(running) * clock * kSlot.count();
      run.truth_j += game.own.at(running) * clock * kSlot.count();
      for (unsigned command = 0; command < world.commands.size(); ++command) {
        if ((running >> command & 1U) == 0) continue;
        const Seconds used = kSlot * world.commands[command].threads;
        if (command == 0) seen.command += used;
        seen.busy += used;
      }
    }
    seen.busy += seen.wall * world.background;
    seen.busy = std::max(Seconds(rounded_to(seen.busy.count(), kTickS)), seen.command);
    constexpr double kReadingNoise = 0.002;
    energy *= 1.0 + kReadingNoise * random.normal();
    seen.energy = Joules(rounded_to(energy, kTickJ));
    run.measured += seen.energy;
    run.spans.push_back(seen);
  }
  return run;
}

}  // namespace

std::string name_of(const ShareCell& cell) {
  constexpr std::array kCurves = {"concave", "linear", "convex"};
  std::string name = kCurves.at(static_cast<std::size_t>(cell.curve));
  name += cell.others == 0 ? ", alone" : ", " + std::to_string(cell.others) + " others";
  if (cell.shares_cores) name += ", SMT";
  if (cell.changes_clock) name += ", clock changes";
  return name + (cell.has_baseline ? "" : ", no baseline");
}

std::vector<ShareCell> share_cells() {
  std::vector<ShareCell> cells;
  for (const bool has_baseline : {true, false}) {
    for (const unsigned others : {0U, 1U, 3U}) {
      for (const PowerCurve curve : {PowerCurve::concave, PowerCurve::linear, PowerCurve::convex}) {
        for (const bool shares_cores : {false, true}) {
          for (const bool changes_clock : {false, true}) {
            cells.push_back({curve, others, shares_cores, changes_clock, has_baseline});
          }
        }
      }
    }
  }
  return cells;
}

ShareResult simulate_shares(const ShareCell& cell, std::size_t trials, std::uint64_t seed) {
  ShareResult result;
  std::vector<double> half_widths;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    Random random(hash(seed, trial));
    const World world = make_world(cell, random);
    // Idle power drifts between the baseline and the run.
    const double idle_w = world.idle_w * random.uniform(0.98, 1.02);
    const Run run = run_on(world, cell, idle_w, random);
    std::optional<IdleRange> idle;
    if (cell.has_baseline) {
      constexpr double kKnown = 0.03;
      idle = IdleRange{.low = Watts(world.idle_w * (1.0 - kKnown)),
                       .typical = Watts(world.idle_w),
                       .high = Watts(world.idle_w * (1.0 + kKnown)),
                       .busy_cpus = world.background};
    }
    const ShareBalance balance = balance_of(run.spans, run.measured, idle);
    const EnergyRange& range = balance.command;
    ++result.trials;
    if (range.low.si() <= run.truth_j && run.truth_j <= range.high.si()) ++result.held;
    const std::int64_t sum = balance.idle_nj.value_or(0) + balance.command_nj + balance.others_nj +
                             balance.unexplained_nj;
    if (sum == balance.measured_nj) ++result.closed;
    if (run.truth_j > 0.0) {
      half_widths.push_back((range.high - range.low).si() / 2.0 / run.truth_j);
    }
  }
  const auto middle = half_widths.begin() + static_cast<std::ptrdiff_t>(half_widths.size() / 2);
  std::nth_element(half_widths.begin(), middle, half_widths.end());
  if (middle != half_widths.end()) result.median_half_width = *middle;
  return result;
}

}  // namespace wattle::lab
