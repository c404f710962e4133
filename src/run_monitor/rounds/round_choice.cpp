#include "run_monitor/rounds/round_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "run_monitor/rounds/round_solver.hpp"

namespace wattle {
namespace {

/// More GPUs are found only if their number is given.
constexpr std::size_t kMostGuessed = 32;
/// Differences of costs that decide.
constexpr double kClearly = 10.0;
constexpr double kDivisorClearly = 8.0;
/// A difference of misfits, per row.
constexpr double kHopeless = 2.0;

struct Candidate {
  std::size_t gpus = 1;
  RoundModel model;
  double misfit = 0.0;  ///< by windows
  RoundPath path;       ///< without margins
  double cost = 0.0;    ///< of the path, and of what the model has free
  bool is_solved = false;
};

double freedom_cost(std::size_t gpus, std::size_t rows) {
  const auto n = static_cast<double>(gpus);
  const double rounds = std::max(2.0, static_cast<double>(rows) / n);
  return n * (std::log(rounds) + 1.0);
}

/// The order of more GPUs fits noise better, but not by more than this.
double most_of_noise(std::size_t rows) { return kDivisorClearly + 0.5 * static_cast<double>(rows); }

/// The model of the window that fits best: most windows have no irregular row in them.
Candidate candidate_of(Traces rows, std::size_t gpus) {
  constexpr std::size_t kRounds = 6;
  constexpr std::size_t kRows = 16;
  constexpr std::size_t kWindows = 9;
  const std::size_t rounds = std::max(kRounds, kRows / gpus);
  const std::size_t length = std::min(rows.size(), rounds * gpus + 1);
  const std::size_t room = rows.size() - length;
  Candidate best{.gpus = gpus};
  for (std::size_t k = 0; k < kWindows; ++k) {
    const std::size_t begin = room * k / (kWindows - 1);
    RoundModel model = RoundModel::of_window(rows.subspan(begin, length), gpus);
    if (k > 0 && model.misfit() >= best.misfit) continue;
    best.misfit = model.misfit();
    best.model = std::move(model);
    if (room == 0) break;
  }
  const auto count = static_cast<double>(rows.size());
  best.misfit = best.misfit * count + freedom_cost(gpus, rows.size());
  return best;
}

void solve(Candidate& candidate, Traces rows) {
  if (std::exchange(candidate.is_solved, true)) return;
  candidate.path = find_path(rows, candidate.model, std::nullopt, false);
  candidate.model = RoundModel::of_path(rows, candidate.path.positions, candidate.gpus);
  candidate.path = find_path(rows, candidate.model, std::nullopt, false);
  candidate.cost = candidate.path.cost + freedom_cost(candidate.gpus, rows.size());
  // The rows may have shown it to be another order than the window did.
  constexpr double kImplausible = 1e9;
  if (!candidate.model.is_plausible()) candidate.cost += kImplausible;
}

using Candidates = std::vector<Candidate>;

bool is_without_events(const RoundPath& path) {
  return std::ranges::all_of(path.events, [](float event) { return event == 0.0F; });
}

/// The numbers of GPUs that may be; the likely ones are solved.
Candidates candidates_of(Traces rows, std::size_t fewest, std::size_t most) {
  Candidates all;
  for (std::size_t gpus = fewest; gpus <= most; ++gpus) {
    if (gpus > fewest && gpus * 2 + 1 > rows.size()) break;
    Candidate candidate = candidate_of(rows, gpus);
    if (gpus == fewest || candidate.model.is_plausible()) all.push_back(std::move(candidate));
  }
  std::ranges::sort(all, {}, &Candidate::misfit);
  constexpr std::size_t kTried = 4;
  const std::size_t tried = std::min(kTried, all.size());
  for (std::size_t i = 0; i < tried; ++i) {
    // Where one explains every row, others that explain none of the windows are not tried.
    const double beyond = all[i].misfit - all.front().misfit;
    const bool is_hopeless = i > 0 && beyond > kHopeless * static_cast<double>(rows.size());
    if (is_hopeless && is_without_events(all.front().path)) break;
    solve(all[i], rows);
  }
  return all;
}

bool costs_less(const Candidate& a, const Candidate& b) {
  if (a.is_solved != b.is_solved) return a.is_solved;
  return a.is_solved && a.cost < b.cost;
}

/// The candidate of the least cost, or a divisor that does nearly as well.
Candidates::iterator chosen_of(Candidates& all, Traces rows) {
  const std::size_t gpus = std::ranges::min_element(all, costs_less)->gpus;
  for (Candidate& other : all) {
    if (gpus % other.gpus == 0) solve(other, rows);
  }
  const auto least = std::ranges::min_element(all, costs_less);
  auto chosen = least;
  for (auto it = all.begin(); it != all.end(); ++it) {
    if (!it->is_solved || least->gpus % it->gpus != 0 || it->gpus >= chosen->gpus) continue;
    const bool is_nearly_as_good = it->cost < least->cost + kDivisorClearly;
    const bool is_noise =
        it->cost < least->cost + most_of_noise(rows.size()) && least->model.repeats(it->gpus);
    if (is_nearly_as_good || is_noise) chosen = it;
  }
  return chosen;
}

/// True if no other number of GPUs does nearly as well, and few rows are irregular.
bool is_clear(const Candidates& all, const Candidate& chosen) {
  const auto& events = chosen.path.events;
  const auto irregular = std::ranges::count_if(events, [](float event) { return event > 0.0F; });
  constexpr std::size_t kFew = 7;  // one of this number
  if (irregular > 1 && static_cast<std::size_t>(irregular) * kFew > events.size()) return false;
  return std::ranges::none_of(all, [&](const Candidate& other) {
    const bool is_another = other.is_solved && other.gpus % chosen.gpus != 0;
    return is_another && other.cost < chosen.cost + kClearly;
  });
}

RoundChoice choose(Traces rows, std::size_t fewest, std::size_t most) {
  Candidates all = candidates_of(rows, fewest, most);
  const auto chosen = chosen_of(all, rows);
  const bool is_evident = chosen->gpus == 1 || fewest == most ||
                          (chosen->model.is_evident() && !chosen->model.has_even_times());
  RoundChoice choice;
  choice.is_clear = is_evident && is_clear(all, *chosen);
  choice.gpus = chosen->gpus;
  choice.model = std::move(chosen->model);
  choice.path = std::move(chosen->path);
  choice.cost = chosen->cost;
  return choice;
}

/// True if the rows are of the number of GPUs that explains them best, and not of the expected one.
bool contradicts(const RoundChoice& best, const RoundChoice& expected, std::size_t rows,
                 bool is_given) {
  if (best.gpus == expected.gpus) return false;
  double gain = expected.cost - best.cost;
  if (is_given) {
    // A number that is given may have more positions, and a slow driver.
    gain = expected.path.cost - best.path.cost -
           std::max(0.0, freedom_cost(best.gpus, rows) - freedom_cost(expected.gpus, rows));
  }
  // GPUs leave, and come late: fewer rows than expected may be those of most rounds.
  const bool may_leave = is_given && expected.gpus > 1;
  if (!may_leave && gain > most_of_noise(rows)) return true;
  // Rows of some GPUs fit twice as many, too.
  const bool is_multiple = expected.gpus % best.gpus == 0;
  if (!is_given && is_multiple && gain > -most_of_noise(rows)) return true;
  if (!best.is_clear || !is_regular(best.path, best.gpus)) return false;
  return gain > (is_given ? kClearly : -kDivisorClearly);
}

}  // namespace

RoundChoice choose_gpus(Traces rows, std::optional<std::size_t> most) {
  return choose(rows, 1, most.value_or(kMostGuessed));
}

RoundChoice choose_gpus(Traces rows, const ExpectedGpus& expected) {
  RoundChoice choice = choose(rows, expected.count, expected.count);
  if (rows.size() <= kFewestRounds * std::max<std::size_t>(2, expected.count)) return choice;
  // A writer pauses once a round: rows of half as many GPUs fit the number of another file as well.
  if (!expected.is_given && choice.model.has_several_pauses()) choice.is_clear = false;
  RoundChoice best = choose(rows, 1, std::max(kMostGuessed, expected.count));
  return contradicts(best, choice, rows.size(), expected.is_given) ? best : choice;
}

}  // namespace wattle
