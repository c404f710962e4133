#include "top/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/text/split.hpp"

namespace wattle::app {
namespace {

constexpr std::array<std::string_view, 5> kSortWords = {"share", "CPU", "memory", "GPU", "name"};
constexpr std::array<std::string_view, 6> kKeyWords = {"command",   "user", "cgroup",
                                                       "container", "pod",  "process"};
constexpr std::size_t kLongestFilter = 100;
constexpr double kSlowestReplay = 1.0 / 64.0;
constexpr double kFastestReplay = 4096.0;

template <class Enum, std::size_t Size>
Enum next_of(Enum value, const std::array<std::string_view, Size>& /*all*/) {
  return static_cast<Enum>((static_cast<std::size_t>(value) + 1) % Size);
}

void scroll_rows(TopView& view, const TopHits& hits, std::ptrdiff_t rows) {
  const auto furthest = static_cast<std::ptrdiff_t>(hits.furthest);
  const auto now = std::min(static_cast<std::ptrdiff_t>(view.offset), furthest);
  view.offset = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(now + rows, 0, furthest));
}

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
    text.pop_back();
  }
  if (!text.empty()) text.pop_back();
}

TopEffect type_filter(const Key& key, TopView& view) {
  switch (key.kind) {
    case KeyKind::character:
      if (view.filter.size() < kLongestFilter) view.filter += key.text;
      break;
    case KeyKind::backspace:
      remove_last_character(view.filter);
      break;
    case KeyKind::enter:
      view.is_typing = false;
      break;
    case KeyKind::escape:
      view.is_typing = false;
      view.filter.clear();
      break;
    default:
      return TopEffect::none;
  }
  view.offset = 0;
  return TopEffect::redraw;
}

TopEffect change_speed(TopView& view, double factor) {
  if (!view.is_replay) return TopEffect::none;
  view.speed = std::clamp(view.speed * factor, kSlowestReplay, kFastestReplay);
  return TopEffect::speed;
}

TopEffect apply_character(char key, TopView& view, const TopHits& hits) {
  switch (key) {
    case 'q':
    case 'Q':
      return TopEffect::quit;
    case 'r':
      return TopEffect::reset;
    case '<':
      return change_speed(view, 0.5);
    case '>':
      return change_speed(view, 2.0);
    case '?':
    case 'h':
      view.shows_help = !view.shows_help;
      break;
    case 's':
      view.sort = next_of(view.sort, kSortWords);
      break;
    case 'o':
      view.is_reversed = !view.is_reversed;
      break;
    case '/':
      view.is_typing = true;
      break;
    case 'g':
      view.is_tree = false;
      view.key = next_of(view.key, kKeyWords);
      view.offset = 0;
      break;
    case 't':
      view.is_tree = !view.is_tree;
      view.offset = 0;
      break;
    case 'p':
    case ' ':
      view.is_paused = !view.is_paused;
      break;
    case 'u':
      view.unit = (view.unit + 1) % view.units.size();
      break;
    case 'j':
      scroll_rows(view, hits, 1);
      break;
    case 'k':
      scroll_rows(view, hits, -1);
      break;
    default:
      return TopEffect::none;
  }
  return TopEffect::redraw;
}

TopEffect click_column(const Key& key, TopView& view, const TopHits& hits) {
  if (view.shows_help || key.line != hits.line) return TopEffect::none;
  for (const TopHits::ColumnHit& column : hits.columns) {
    if (key.column < column.from || key.column >= column.to) continue;
    if (view.sort == column.sort) view.is_reversed = !view.is_reversed;
    view.sort = column.sort;
    return TopEffect::redraw;
  }
  return TopEffect::none;
}

/// Most comes first, a name from a to z.
bool comes_first(const GroupRow& left, const GroupRow& right, TopSort sort) {
  switch (sort) {
    case TopSort::share:
      return std::pair(left.share, left.cpu) > std::pair(right.share, right.cpu);
    case TopSort::cpu:
      return left.cpu > right.cpu;
    case TopSort::memory:
      return left.memory_bytes > right.memory_bytes;
    case TopSort::gpu:
      return std::pair(left.gpu_percent, left.gpu_memory_bytes) >
             std::pair(right.gpu_percent, right.gpu_memory_bytes);
    case TopSort::name:
      break;
  }
  return left.name < right.name;
}

void sort_rows(std::vector<GroupRow>& rows, const TopView& view) {
  std::ranges::sort(rows, [](const GroupRow& left, const GroupRow& right) {
    return std::pair(std::string_view(left.name), left.pid) <
           std::pair(std::string_view(right.name), right.pid);
  });
  std::ranges::stable_sort(rows, [&](const GroupRow& left, const GroupRow& right) {
    // NOLINTNEXTLINE(readability-suspicious-call-argument): the other way round
    if (view.is_reversed) return comes_first(right, left, view.sort);
    return comes_first(left, right, view.sort);
  });
}

/// Splits the rows into those that match the filter, with their parents in a tree, and the others.
std::vector<GroupRow> take_unmatched(std::vector<GroupRow>& rows, const TopView& view) {
  if (view.filter.empty()) return {};
  const std::string wanted = lower(view.filter);
  std::vector<bool> matches(rows.size());
  std::size_t child_depth = 0;  // of a row that matches, whose parent is still to come
  for (std::size_t i = rows.size(); i-- > 0;) {
    const bool is_parent = view.is_tree && child_depth > 0 && rows[i].depth + 1 == child_depth;
    matches[i] = is_parent || lower(rows[i].name).find(wanted) != std::string::npos;
    if (matches[i]) child_depth = rows[i].depth;
  }
  std::vector<GroupRow> matched;
  std::vector<GroupRow> others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (matches[i] ? matched : others).push_back(std::move(rows[i]));
  }
  rows = std::move(matched);
  return others;
}

std::vector<const GroupRow*> pointers_to(const std::vector<GroupRow>& rows) {
  std::vector<const GroupRow*> all;
  all.reserve(rows.size());
  for (const GroupRow& row : rows) all.push_back(&row);
  return all;
}

}  // namespace

std::string_view to_string(TopSort sort) noexcept { return entry_of(kSortWords, sort); }
std::string_view to_string(TopKey key) noexcept { return entry_of(kKeyWords, key); }

TopEffect apply(const Key& key, TopView& view, const TopHits& hits) {
  if (key.kind == KeyKind::interrupt) return TopEffect::quit;
  if (key.kind == KeyKind::refresh) return TopEffect::repaint;
  if (view.is_typing && key.kind < KeyKind::interrupt) return type_filter(key, view);
  constexpr std::ptrdiff_t kWheel = 3;
  const auto page = static_cast<std::ptrdiff_t>(hits.page);
  const auto all = static_cast<std::ptrdiff_t>(hits.furthest);
  switch (key.kind) {
    case KeyKind::character:
      return key.text.size() == 1 ? apply_character(key.text.front(), view, hits) : TopEffect::none;
    case KeyKind::escape:
      if (view.shows_help) {
        view.shows_help = false;
      } else {
        view.filter.clear();
      }
      break;
    case KeyKind::up:
      scroll_rows(view, hits, -1);
      break;
    case KeyKind::down:
      scroll_rows(view, hits, 1);
      break;
    case KeyKind::page_up:
      scroll_rows(view, hits, -page);
      break;
    case KeyKind::page_down:
      scroll_rows(view, hits, page);
      break;
    case KeyKind::home:
      scroll_rows(view, hits, -all);
      break;
    case KeyKind::end:
      scroll_rows(view, hits, all);
      break;
    case KeyKind::wheel_up:
      scroll_rows(view, hits, -kWheel);
      break;
    case KeyKind::wheel_down:
      scroll_rows(view, hits, kWheel);
      break;
    case KeyKind::click:
      return click_column(key, view, hits);
    default:
      return TopEffect::none;
  }
  return TopEffect::redraw;
}

ShownRows shown_rows(GroupTable table, const std::vector<TopProcess>& processes,
                     const TopView& view, std::size_t room) {
  std::vector<GroupRow> groups = std::move(table.groups);
  sort_rows(groups, view);
  if (view.is_tree) order_as_tree(groups, processes);
  const std::vector<GroupRow> unmatched = take_unmatched(groups, view);
  std::vector<GroupRow> others = std::move(table.others);
  ShownRows shown{.groups = groups.size()};
  if (!unmatched.empty() || groups.size() + others.size() > room) {
    std::vector<const GroupRow*> hidden = pointers_to(unmatched);
    const std::size_t left = room - std::min<std::size_t>(room, 1);  // one is for what is hidden
    const bool hides_others = others.size() > left / 2;
    shown.groups = std::min(hides_others ? left : left - others.size(), groups.size());
    shown.furthest = groups.size() - shown.groups;
    const auto first =
        groups.begin() + static_cast<std::ptrdiff_t>(std::min(view.offset, shown.furthest));
    const auto end = first + static_cast<std::ptrdiff_t>(shown.groups);
    for (auto row = groups.begin(); row != groups.end(); ++row) {
      if (row < first || row >= end) hidden.push_back(&*row);
    }
    if (hides_others) std::ranges::move(pointers_to(others), std::back_inserter(hidden));
    GroupRow sum = sum_of(hidden, GroupRow::RowKind::hidden, fmt::format("{} more", hidden.size()));
    if (hides_others) others.clear();
    groups = std::vector<GroupRow>(first, end);
    others.insert(others.begin(), std::move(sum));
  }
  shown.rows = std::move(groups);
  std::ranges::move(others, std::back_inserter(shown.rows));
  if (shown.rows.size() > room) shown.rows.resize(room);
  round_shares(shown.rows);
  return shown;
}

}  // namespace wattle::app
