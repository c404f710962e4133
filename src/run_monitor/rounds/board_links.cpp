#include "run_monitor/rounds/board_links.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace wattle {
namespace {

/// Another way to link GPUs must cost that much more.
constexpr double kLinkMargin = 3.0;
constexpr double kUnlikeCost = 15.0;

/// As `continuity_cost`, over a time in which temperatures change, too.
double link_cost(const RowTrace& before, const RowTrace& after, MemoryEvidence memory) noexcept {
  if (are_unlike(before, after)) return kUnlikeCost;
  const double gap_s = std::abs(static_cast<double>(after.time_ms - before.time_ms)) * 1e-3;
  double cost = 0.0;
  if (before.temperature >= 0.0F && after.temperature >= 0.0F) {
    const double change = std::abs(static_cast<double>(before.temperature - after.temperature));
    const double beyond = std::max(0.0, change - 1.0) / (1.0 + 0.3 * gap_s);
    cost += std::min(4.0, 0.35 * beyond * beyond);
  }
  constexpr double kJobsLast = 600.0;
  const bool has_memory = before.used_mib >= 0.0F && after.used_mib >= 0.0F;
  if (memory != MemoryEvidence::none && gap_s < kJobsLast && has_memory) {
    const double most_cost = memory == MemoryEvidence::shared ? 2.5 : 6.0;
    const auto most = static_cast<double>(std::max({1.0F, before.used_mib, after.used_mib}));
    const double of_most = std::abs(static_cast<double>(before.used_mib - after.used_mib)) / most;
    const bool is_other = memory == MemoryEvidence::exact && of_most > 0.0;
    cost += is_other ? most_cost : std::min(most_cost, 300.0 * of_most);
  }
  return cost;
}

/// The place of `from` that is not in `in`, which has one less.
std::optional<std::size_t> left_out(const PlacedBoards& from, const PlacedBoards& in,
                                    MemoryEvidence memory) {
  const auto& all = from.boards;
  const auto& rest = in.boards;
  double best = std::numeric_limits<double>::max();
  double second = best;
  std::size_t best_at = 0;
  for (std::size_t out = 0; out < all.size(); ++out) {
    double cost = 0.0;
    for (std::size_t place = 0; place < rest.size(); ++place) {
      const std::size_t there = place + (place >= out ? 1 : 0);
      cost += link_cost(all[there].board, rest[place].board, memory);
      const bool is_pause = place + 1 == rest.size() || there + 1 == all.size();
      if (is_pause || there + 1 == out) continue;
      const auto& [one_ms, one_spread] = all[there].gap;
      const auto& [two_ms, two_spread] = rest[place].gap;
      const double floor = 0.2 + 0.03 * one_ms;
      const double variance = one_spread * one_spread / from.rounds +
                              two_spread * two_spread / in.rounds + floor * floor;
      cost += std::min(6.0, 0.5 * (one_ms - two_ms) * (one_ms - two_ms) / variance);
    }
    if (cost < best) {
      second = std::exchange(best, cost);
      best_at = out;
    } else {
      second = std::min(second, cost);
    }
  }
  const double most = 2.0 + 1.0 * static_cast<double>(rest.size());
  if (best > most || second < best + kLinkMargin + 1.0) return std::nullopt;
  return best_at;
}

}  // namespace

void MemoryInUse::add(std::size_t place, const RowTrace& row) noexcept {
  if (row.used_mib < 0.0F) return;
  MemoryRange& range = ranges_[place];
  range.least = range.least < 0.0F ? row.used_mib : std::min(range.least, row.used_mib);
  range.most = std::max(range.most, row.used_mib);
}

MemoryEvidence MemoryInUse::evidence() const noexcept {
  MemoryEvidence evidence = MemoryEvidence::exact;
  for (const MemoryRange& range : ranges_) {
    constexpr float kSteady = 0.01F;
    if (range.most - range.least > kSteady * range.most) return MemoryEvidence::none;
    if (range.most > range.least) evidence = MemoryEvidence::steady;
  }
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const bool is_shared =
        std::any_of(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const MemoryRange& other) { return other.most == ranges_[i].most; });
    if (is_shared) return MemoryEvidence::shared;
  }
  return evidence;
}

std::optional<BoardLinks> link_boards(const std::vector<RowTrace>& before,
                                      const std::vector<RowTrace>& now, MemoryEvidence memory) {
  const bool is_fewer = now.size() <= before.size();
  const std::size_t few = std::min(before.size(), now.size());
  const std::size_t many = std::max(before.size(), now.size());
  BoardLinks links(now.size());
  std::vector<bool> is_taken(many, false);
  for (std::size_t i = 0; i < few; ++i) {
    double best = std::numeric_limits<double>::max();
    double second = best;
    std::size_t best_at = 0;
    for (std::size_t j = 0; j < many; ++j) {
      const double cost =
          is_fewer ? link_cost(before[j], now[i], memory) : link_cost(before[i], now[j], memory);
      if (cost < best) {
        second = std::exchange(best, cost);
        best_at = j;
      } else {
        second = std::min(second, cost);
      }
    }
    if (best >= kUnlikeCost) continue;  // another one
    constexpr double kMost = 2.0;
    const bool is_clear = many == 1 || (best < kMost && second >= best + kLinkMargin);
    if (!is_clear || is_taken[best_at]) return std::nullopt;
    is_taken[best_at] = true;
    links[is_fewer ? i : best_at] = is_fewer ? best_at : i;
  }
  return links;
}

bool have_changed_places(const std::vector<RowTrace>& before, const std::vector<RowTrace>& now,
                         MemoryEvidence memory) {
  constexpr double kMoved = 0.7;
  constexpr double kClearly = 2.0;
  const auto gain_of = [&](std::size_t from, std::size_t to) {
    return link_cost(before[to], now[to], memory) - link_cost(before[from], now[to], memory);
  };
  const auto is_known = [&](std::size_t i) {
    return before[i].time_ms != 0 && now[i].time_ms != 0;
  };
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < now.size(); ++i) {
    bool has_moved = false;
    for (std::size_t from = 0; from < now.size() && is_known(i) && !has_moved; ++from) {
      has_moved = is_known(from) && gain_of(from, i) >= kMoved;
    }
    if (has_moved) moved.push_back(i);
  }
  // A board whose memory is that of a new job is like another one by chance, but not the other way
  // round.
  double sum = 0.0;
  for (const std::size_t to : moved) {
    double most = 0.0;
    for (const std::size_t from : moved) most = std::max(most, gain_of(from, to));
    if (most < kMoved) return false;
    sum += most;
  }
  return sum > kClearly;
}

const RowTrace& settled_board(Traces rows) noexcept {
  constexpr double kSame = 0.5;
  if (rows.size() < 3) return rows.back();
  const bool is_settled = continuity_cost(rows[0], rows[1]) < kSame &&
                          continuity_cost(rows[1], rows[2]) < kSame &&
                          !are_unlike(rows[0], rows[1]) && !are_unlike(rows[1], rows[2]);
  return is_settled ? rows[1] : rows[2];
}

std::vector<PlacedBoard> placed_of(const RoundModel& model, std::size_t first,
                                   const std::vector<RowTrace>& boards) {
  std::vector<PlacedBoard> placed;
  for (std::size_t place = 0; place < boards.size(); ++place) {
    placed.push_back({boards[place], model.gap((first + place) % boards.size())});
  }
  return placed;
}

bool is_in_order(const BoardLinks& links) {
  std::optional<std::size_t> last;
  for (const auto& link : links) {
    if (link && last && *link < *last) return false;
    if (link) last = link;
  }
  return true;
}

std::optional<BoardLinks> link_in_order(const PlacedBoards& before, const PlacedBoards& now,
                                        MemoryEvidence memory) {
  const std::size_t n = now.boards.size();
  const bool has_left = before.boards.size() == n + 1;
  const bool has_come = before.boards.size() + 1 == n;
  if (!has_left && !has_come) return std::nullopt;
  const auto out = has_left ? left_out(before, now, memory) : left_out(now, before, memory);
  if (!out) return std::nullopt;
  BoardLinks links(n);
  for (std::size_t place = 0; place < n; ++place) {
    if (has_left) links[place] = place + (place >= *out ? 1 : 0);
    if (has_come && place != *out) links[place] = place - (place > *out ? 1 : 0);
  }
  return links;
}

}  // namespace wattle
