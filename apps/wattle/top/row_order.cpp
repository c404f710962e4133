// The order of rows, and their shares as printed.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "top/group_rows.hpp"

namespace wattle::app {

void order_as_tree(std::vector<GroupRow>& rows, const std::vector<TopProcess>& processes) {
  std::unordered_map<pid_t, pid_t> parents;
  for (const TopProcess& process : processes) parents.emplace(process.pid, process.parent);
  std::unordered_map<pid_t, std::size_t> place_of;
  for (std::size_t i = 0; i < rows.size(); ++i) place_of.emplace(rows[i].pid, i);
  std::unordered_map<std::size_t, std::vector<std::size_t>> children;
  std::vector<std::size_t> open;  // a stack: what comes first is at its end
  for (std::size_t i = rows.size(); i-- > 0;) {
    const auto parent = place_of.find(parents[rows[i].pid]);
    if (parent == place_of.end() || parent->second == i) {
      open.push_back(i);
    } else {
      children[parent->second].push_back(i);
    }
  }
  std::vector<GroupRow> ordered;
  ordered.reserve(rows.size());
  std::vector<bool> is_done(rows.size());
  const auto visit_all = [&] {
    while (!open.empty()) {
      const std::size_t place = open.back();
      open.pop_back();
      if (is_done[place]) continue;
      is_done[place] = true;
      const std::size_t depth = rows[place].depth;
      ordered.push_back(std::move(rows[place]));
      const auto below = children.find(place);
      if (below == children.end()) continue;
      for (const std::size_t child : below->second) {
        rows[child].depth = depth + 1;
        open.push_back(child);
      }
    }
  };
  visit_all();
  for (std::size_t i = 0; i < rows.size(); ++i) {  // circles
    if (is_done[i]) continue;
    rows[i].depth = 0;
    open.push_back(i);
    visit_all();
  }
  rows = std::move(ordered);
}

void round_shares(std::vector<GroupRow>& rows) {
  constexpr double kTenths = 10.0;
  struct Share {
    double* percent;
    double remainder;  ///< in tenths
  };
  std::vector<Share> known;
  double sum = 0.0;
  double floors = 0.0;
  for (GroupRow& row : rows) {
    if (!row.share) continue;
    const double tenths = *row.share * kTenths;
    const double whole = std::floor(tenths + 1e-9);
    sum += tenths;
    floors += whole;
    *row.share = whole;
    known.push_back({&*row.share, tenths - whole});
  }
  std::ranges::stable_sort(known, std::ranges::greater(), &Share::remainder);
  const auto left = static_cast<std::size_t>(std::max(0.0, std::round(sum) - floors));
  for (std::size_t i = 0; i < known.size(); ++i) {
    *known[i].percent = (*known[i].percent + (i < left ? 1.0 : 0.0)) / kTenths;
  }
}

}  // namespace wattle::app
