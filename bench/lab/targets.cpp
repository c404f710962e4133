#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/results.hpp"

namespace wattle::lab {
namespace {

constexpr const char* kNotMeasured = "not measured";

/// Where a cell is found in the table.
struct Place {
  std::string_view mode;
  std::string_view machine;
  std::string_view load;
  double window_s;
};

const CellResult* find(const Results& results, const Place& place) {
  const auto found = std::ranges::find_if(results.cells, [&](const Entry& entry) {
    const Cell& cell = entry.cell;
    return cell.mode == place.mode && cell.machine.name == place.machine &&
           cell.load.name == place.load && cell.window_s == place.window_s;
  });
  return found == results.cells.end() ? nullptr : &found->result;
}

/// The errors of Wattle's own way there; null where there is none.
const WayResult* find_wattle(const Results& results, const Place& place) {
  const CellResult* const result = find(results, place);
  if (result == nullptr || !result->wattle || result->wattle->found == 0.0) return nullptr;
  return &*result->wattle;
}

/// Every cell that misses the limit by some measure; where there is none, how close the worst
/// comes.
Verdict each(const Results& results, std::string target,
             const std::function<std::optional<double>(const Cell&, const WayResult&)>& excess_of,
             const std::function<std::string(double)>& text_of) {
  struct Found {
    double excess;
    std::string where;
  };
  std::vector<Found> found;
  for (const Entry& entry : results.cells) {
    if (!entry.result.wattle) continue;
    const std::optional<double> excess = excess_of(entry.cell, *entry.result.wattle);
    if (excess) found.push_back({*excess, entry.cell.name()});
  }
  if (found.empty()) return {.target = std::move(target), .value = kNotMeasured};
  std::ranges::stable_sort(found, std::ranges::greater{}, &Found::excess);
  const auto missed =
      std::ranges::count_if(found, [](const Found& cell) { return cell.excess > 0.0; });
  Verdict verdict{.target = std::move(target), .is_met = missed == 0};
  if (missed == 0) {
    verdict.value = fmt::format("{} at worst ({}) in {} cells", text_of(found.front().excess),
                                found.front().where, found.size());
    return verdict;
  }
  verdict.value = fmt::format("{} of {} cells miss it:", missed, found.size());
  for (auto i = found.begin(); i != found.begin() + missed; ++i) {
    verdict.value += fmt::format(" {} ({}){}", text_of(i->excess), i->where,
                                 std::next(i) == found.begin() + missed ? "" : ";");
  }
  return verdict;
}

Verdict coverage(const Results& results, std::string target, bool with_hidden) {
  constexpr double kLeast = 0.95;
  return each(
      results, std::move(target),
      [&](const Cell& cell, const WayResult& way) -> std::optional<double> {
        if (!way.claims || (cell.is_hidden() && !with_hidden)) return std::nullopt;
        return kLeast - way.claims->coverage;
      },
      [](double excess) { return fmt::format("{:.1f} %", 100.0 * (kLeast - excess)); });
}

/// " (12 cells are exempt: 9 no error by construction, 3 nobody knows the gauge)"
std::string exempt_text(const Results& results) {
  std::map<std::string_view, int> reasons;
  int count = 0;
  for (const Entry& entry : results.cells) {
    if (entry.cell.exempt_from_width.empty()) continue;
    ++reasons[entry.cell.exempt_from_width];
    ++count;
  }
  if (count == 0) return "";
  std::string text = fmt::format(" ({} cells are exempt:", count);
  for (const auto& [reason, cells] : reasons) text += fmt::format(" {} {},", cells, reason);
  text.back() = ')';
  return text;
}

Verdict width(const Results& results) {
  constexpr double kMost = 3.0;
  Verdict verdict = each(
      results,
      "median +- at most 3 times the 95th percentile of the error's size, where there is an error",
      [](const Cell& cell, const WayResult& way) -> std::optional<double> {
        const std::optional<double> ratio = width_ratio(way);
        if (!cell.exempt_from_width.empty() || !ratio) return std::nullopt;
        return *ratio - kMost;
      },
      [](double excess) { return fmt::format("{:.2f} times", kMost + excess); });
  verdict.value += exempt_text(results);
  return verdict;
}

std::string percent_text(double part) { return fmt::format("{:.3f} %", 100.0 * part); }

/// The limit is for loads that begin and end with the window; a running one is told beside it.
Verdict rms_at_edges(const Results& results, std::string_view mode, double window_s, double limit) {
  Verdict verdict{.target = fmt::format("`{}` at {}: at most {:g} % rms, step at the edges", mode,
                                        length_text(window_s), 100.0 * limit),
                  .value = kNotMeasured};
  const auto at = [&](std::string_view load) {
    return find_wattle(results, {mode, "ice lake", load, window_s});
  };
  const WayResult* const edges = at("step at the edges");
  if (edges == nullptr) return verdict;
  verdict.is_met = edges->errors.rms <= limit;
  verdict.value = percent_text(edges->errors.rms);
  if (const WayResult* const running = at("40 Hz square")) {
    verdict.value +=
        fmt::format(" ({} under a running 40 Hz square load)", percent_text(running->errors.rms));
  }
  return verdict;
}

/// Ten seconds of a gauge that sees a quarter of the time.
Verdict part_time_gauge(const Results& results, std::string_view load, std::string_view what) {
  constexpr double kMost = 0.006;
  Verdict verdict{
      .target = fmt::format("10 s of {} on a 25/100 ms gauge without a counter: at most "
                            "{:g} % rms, flagged `partial_coverage`",
                            what, 100.0 * kMost),
      .value = kNotMeasured};
  const WayResult* const way = find_wattle(results, {"gauge", "gpu 25/100 ms", load, 10.0});
  if (way == nullptr) return verdict;
  const double flagged = way->claims ? way->claims->partial_coverage : 0.0;
  verdict.is_met = way->errors.rms <= kMost && flagged == 1.0;
  verdict.value =
      fmt::format("{}, flagged in {:.1f} %", percent_text(way->errors.rms), 100.0 * flagged);
  return verdict;
}

Verdict aliased_load(const Results& results) {
  Verdict verdict{.target =
                      "a load at the gauge's period, with a counter that sees all of it: "
                      "`disagrees` in at least 99 % of the runs in which the gauge is off by more "
                      "than both +- and 5 %",
                  .value = kNotMeasured};
  constexpr double kLeast = 0.99;
  const WayResult* const way = find_wattle(
      results, {"both", "gpu 25/100 ms + counter", "square at the gauge's period", 10.0});
  if (way == nullptr || !way->claims) return verdict;
  const Claims& claims = *way->claims;
  verdict.is_met = claims.far_off_beside > 0.0 && claims.noticed_beside >= kLeast;
  verdict.value = fmt::format(
      "{:.2f} % of the {:.1f} %; where nothing is flagged, the gauge is right to within {:.1f} %",
      100.0 * claims.noticed_beside, 100.0 * claims.far_off_beside, 100.0 * claims.most_beside);
  return verdict;
}

/// No +- can know of such a load: what is promised is that it says so, and how wrong it can be.
Verdict hidden_loads(const Results& results) {
  return each(
      results,
      "a load that is hidden from its only gauge costs no more than its highest and lowest power "
      "allow, and is flagged `partial_coverage` or `coverage_unknown`",
      [](const Cell& cell, const WayResult& way) -> std::optional<double> {
        if (!way.claims || cell.mode != "gauge" || !cell.is_hidden()) return std::nullopt;
        if (way.claims->partial_coverage + way.claims->coverage_unknown < 1.0) return 1.0;
        return way.errors.most - cell.most_if_hidden(cell.load.shape.mean_w(0.0, 1000.0)) -
               way.claims->median_half_width;
      },
      [](double excess) { return fmt::format("{:.1f} % to spare", -100.0 * excess); });
}

bool is_fed(const Cell& cell) noexcept { return cell.machine.counter_is_fed; }

/// Its readings are those of a counter of its own, unless the gauge's beside it differ.
Verdict fed_counters(const Results& results) {
  constexpr double kLeast = 0.99;
  constexpr double kCovered = 0.95;
  return each(
      results,
      "a counter that adds up what a gauge shows is flagged `partial_coverage` or "
      "`coverage_unknown` in at least 99 % of the trials, or covered in 95 %",
      [](const Cell& cell, const WayResult& way) -> std::optional<double> {
        if (!way.claims || !is_fed(cell)) return std::nullopt;
        const double flagged = way.claims->partial_coverage + way.claims->coverage_unknown;
        return way.claims->coverage >= kCovered ? kLeast - 1.0 : kLeast - flagged;
      },
      [](double excess) { return percent_text(kLeast - excess); });
}

Verdict counters_of_their_own(const Results& results) {
  constexpr double kMost = 0.01;
  return each(
      results, "a counter of its own is flagged `partial_coverage` in at most 1 % of the trials",
      [](const Cell& cell, const WayResult& way) -> std::optional<double> {
        if (!way.claims || !cell.machine.counter || !cell.machine.gauge || is_fed(cell)) {
          return std::nullopt;
        }
        return way.claims->partial_coverage - kMost;
      },
      [](double excess) { return percent_text(kMost + excess); });
}

/// Energies that are known without a lab.
Verdict exact(const Results& results, std::string_view load, double window_s, double true_j) {
  constexpr double kMostJ = 1e-3;
  Verdict verdict{.target = fmt::format("{}, {}: {:g} J", load, length_text(window_s), true_j),
                  .value = kNotMeasured};
  const Place place{"gauge", "gpu in step", load, window_s};
  const WayResult* const way = find_wattle(results, place);
  if (way == nullptr) return verdict;
  const double truth_j = find(results, place)->true_mean_j;
  const double most_j = std::abs(truth_j - true_j) + way->errors.most * truth_j;
  verdict.is_met = most_j <= kMostJ;
  verdict.value = fmt::format("{:.6f} J away at most", most_j);
  return verdict;
}

}  // namespace

std::string_view text_of(std::optional<bool> is_met) noexcept {
  if (!is_met) return "-";
  return *is_met ? "met" : "MISSED";
}

std::vector<Verdict> judge(const Results& results) {
  return {
      coverage(results,
               "the +- (k = 2) covers the truth in at least 95 % of the trials of every cell",
               true),
      coverage(results, "the same where the load is not hidden from its only gauge", false),
      width(results),
      rms_at_edges(results, "plain", 0.1, 0.008),
      rms_at_edges(results, "meter", 0.1, 0.008),
      rms_at_edges(results, "interpolated", 0.1, 0.006),
      rms_at_edges(results, "aligned", 0.01, 0.0015),
      rms_at_edges(results, "aligned", 0.1, 0.0005),
      part_time_gauge(results, "work, 130 ms square", "work with a period of 130 ms"),
      aliased_load(results),
      hidden_loads(results),
      fed_counters(results),
      counters_of_their_own(results),
      exact(results, "constant 100 W", 10.0, 1000.0),
      exact(results, "100 to 300 W after 5 s", 10.0, 2000.0),
      exact(results, "100 to 300 W after 4 s", 8.0, 1600.0),
  };
}

}  // namespace wattle::lab
