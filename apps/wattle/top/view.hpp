// The user's view in `wattle top`, and how keys change it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/group_rows.hpp"
#include "top/keys.hpp"
#include "top/units.hpp"

namespace wattle::app {

enum class TopSort : std::uint8_t { share, cpu, memory, gpu, name };
[[nodiscard]] std::string_view to_string(TopSort sort) noexcept;
/// "command", "user", "cgroup", "container", "pod", "process".
[[nodiscard]] std::string_view to_string(TopKey key) noexcept;

struct TopView {
  TopKey key = TopKey::command;
  bool is_tree = false;  ///< a row for each process, below its parent
  TopSort sort = TopSort::share;
  bool is_reversed = false;
  std::string filter{};
  bool is_typing = false;  ///< the filter
  bool is_paused = false;
  bool shows_help = false;
  bool is_replay = false;
  double speed = 1.0;  ///< of a replay
  std::vector<TopUnit> units{TopUnit{}};
  std::size_t unit = 0;
  std::size_t offset = 0;  ///< rows of the table of groups above its first row

  [[nodiscard]] TopKey shown_key() const noexcept { return is_tree ? TopKey::process : key; }
  [[nodiscard]] const TopUnit& shown_unit() const noexcept { return units[unit]; }
};

/// Where a frame has what a mouse can click on.
struct TopHits {
  struct ColumnHit {
    TopSort sort = TopSort::share;
    std::size_t from = 0;
    std::size_t to = 0;
  };
  std::size_t line = 0;  ///< of the columns' names
  std::vector<ColumnHit> columns{};
  std::size_t page = 1;    ///< rows of groups that the frame shows
  std::size_t furthest{};  ///< the largest useful offset
};

/// Actions beside drawing again.
enum class TopEffect : std::uint8_t { none, redraw, repaint, quit, reset, speed };

[[nodiscard]] TopEffect apply(const Key& key, TopView& view, const TopHits& hits);

/// The rows that a table with room for `room` has: sorted, filtered, in the order of a tree. What
/// has no room, or does not match, is one row, so that the shares add up to 100 as printed.
struct ShownRows {
  std::vector<GroupRow> rows{};
  std::size_t groups = 0;    ///< rows that are groups
  std::size_t furthest = 0;  ///< the largest useful offset
};
[[nodiscard]] ShownRows shown_rows(GroupTable table, const std::vector<TopProcess>& processes,
                                   const TopView& view, std::size_t room);

}  // namespace wattle::app
