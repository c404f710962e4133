#include "top/columns.hpp"

#include <algorithm>
#include <numeric>

namespace wattle::app {
namespace {

constexpr std::size_t kColumnGap = 2;

std::size_t widest_cell(const TableColumn& column) {
  std::size_t width = columns_of(column.name);
  for (const std::string& cell : column.cells) width = std::max(width, columns_of(cell));
  return width;
}

/// The width of each column, 0 where it has no room.
std::vector<std::size_t> widths_of(const std::vector<TableColumn>& columns, std::size_t width) {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return columns[i].rank; });
  std::vector<std::size_t> widest;
  widest.reserve(columns.size());
  for (const TableColumn& column : columns) widest.push_back(widest_cell(column));
  std::vector<std::size_t> widths(columns.size());
  std::size_t left = width;
  bool is_first = true;
  for (const std::size_t i : order) {
    const std::size_t most = widest[i];
    const std::size_t least = std::min(columns[i].least.value_or(most), most);
    const std::size_t gap = is_first ? 0 : kColumnGap;
    if (is_first) {
      widths[i] = std::min(least, left);
    } else if (least + gap <= left) {
      widths[i] = least;
    } else {
      continue;
    }
    left -= widths[i] + gap;
    is_first = false;
  }
  for (const std::size_t i : order) {
    if (widths[i] == 0) continue;
    const std::size_t most = widest[i];
    const std::size_t more = columns[i].is_last ? left : std::min(left, most - widths[i]);
    widths[i] += more;
    left -= more;
  }
  return widths;
}

}  // namespace

std::string in_width(const std::string& text, std::size_t width, Align align) {
  const std::size_t wide = columns_of(text);
  std::string shown = wide > width ? cut(text, width) : text;
  const std::string space(width - std::min(width, columns_of(shown)), ' ');
  return align == Align::left ? shown + space : space + shown;
}

TableLines lay_out(const std::vector<TableColumn>& columns, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(columns, width);
  std::size_t rows = 0;
  for (const TableColumn& column : columns) rows = std::max(rows, column.cells.size());
  TableLines lines{.rows = std::vector<std::string>(rows)};
  std::size_t from = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::string gap(lines.places.empty() ? 0 : kColumnGap, ' ');
    from += gap.size();
    lines.places.push_back({.column = i, .from = from, .to = from + widths[i]});
    from += widths[i];
    const auto add = [&](std::string& line, const std::string& cell) {
      line += gap + in_width(cell, widths[i], columns[i].align);
    };
    add(lines.names, columns[i].name);
    for (std::size_t row = 0; row < rows; ++row) {
      add(lines.rows[row], row < columns[i].cells.size() ? columns[i].cells[row] : "");
    }
  }
  const auto strip = [](std::string& line) { line.erase(line.find_last_not_of(' ') + 1); };
  strip(lines.names);
  std::ranges::for_each(lines.rows, strip);
  return lines;
}

}  // namespace wattle::app
