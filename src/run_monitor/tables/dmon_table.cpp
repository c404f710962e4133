#include "run_monitor/tables/dmon_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle {

namespace {

/// Takes the next word off `text`, or the next cell; absent at the end.
std::optional<std::string_view> take_item(std::string_view& text, bool has_commas) noexcept {
  if (text.empty()) return std::nullopt;
  if (has_commas) return trimmed(take_until(text, ','));
  const std::string_view word = take_word(text);
  return word.empty() ? std::nullopt : std::optional(word);
}

}  // namespace

void DmonTable::take(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('#')) {
    take_header(line.substr(1));
  } else {
    count_row(take_row(line));
  }
}

void DmonTable::take_header(std::string_view names) {
  DmonColumns found{
      .count = 0, .places = {}, .has_commas = names.find(',') != std::string_view::npos};
  found.places.fill(kNone);
  std::string_view rest = names;
  while (const auto name = take_item(rest, found.has_commas)) {
    const auto* const known = std::ranges::find(kNames, lower(*name));
    if (known != kNames.end()) {
      found.places.at(static_cast<std::size_t>(known - kNames.begin())) = found.count;
    }
    ++found.count;
  }
  if (found.places.front() == kNone) {
    take_units(names);
    return;
  }
  columns_ = found;
  has_header_ = true;
}

/// The line below the header.
void DmonTable::take_units(std::string_view units) {
  std::size_t column = 0;
  for (; const auto unit = take_item(units, columns_.has_commas); ++column) {
    const auto* const place = std::ranges::find(columns_.places, column);
    const auto figure = static_cast<std::size_t>(place - columns_.places.begin());
    if (place == columns_.places.end() || figure == 0 || *unit == "MB" || unit->empty()) continue;
    const auto factor = factor_of(kUnits.at(figure).quantity, *unit);
    if (factor) {
      columns_.units.at(figure).factor = *factor;
      continue;
    }
    columns_.places.at(figure) = kNone;
    refused_ =
        fmt::format("the unit of {} is unknown: {}", kNames.at(figure), printable(*unit, 20));
  }
}

bool DmonTable::take_row(std::string_view line) {
  std::array<std::string_view, kNames.size()> words;
  std::size_t column = 0;
  for (; const auto word = take_item(line, columns_.has_commas); ++column) {
    const auto* const place = std::ranges::find(columns_.places, column);
    if (place != columns_.places.end()) {
      words.at(static_cast<std::size_t>(place - columns_.places.begin())) = *word;
    }
  }
  const auto index = parse_unsigned<unsigned>(words[0]);
  const auto cell = [&](std::size_t i) { return parse_cell(words.at(i), columns_.units.at(i)); };
  const bool has_figures = std::ranges::any_of(columns_.places.begin() + 1, columns_.places.end(),
                                               [](std::size_t p) { return p != kNone; });
  const GpuRow row{.whole = column == columns_.count && index && has_figures,
                   .util = cell(1),
                   .mem_util = cell(2),
                   .memory = cell(3),
                   .power = cell(4)};
  DmonGpu* const known = row.is_good() ? gpu(*index) : nullptr;
  if (known == nullptr) {
    note_bad([&] { return reason_for(column, row); });
    return false;
  }
  known->spreads.add(row);
  return true;
}

std::string DmonTable::reason_for(std::size_t count, const GpuRow& row) const {
  if (count != columns_.count) {
    return has_header_
               ? fmt::format("it has {}, and the header {}", counted(count, "cell"), columns_.count)
               : fmt::format("it has {}, and without a header \"# gpu ...\" 4 are expected",
                             counted(count, "cell"));
  }
  if (!refused_.empty()) return refused_;
  if (!row.whole) {
    return "it has no number of a GPU, or no column that is known (sm, mem, fb, pwr)";
  }
  return "a cell is no number, or a share is more than 100 %";
}

DmonTable::DmonGpu* DmonTable::gpu(unsigned index) {
  const auto known = std::ranges::find(gpus_, index, &DmonGpu::index);
  if (known != gpus_.end()) return &*known;
  if (gpus_.size() == kMostGpus) return nullptr;
  return &gpus_.emplace_back(DmonGpu{.index = index});
}

GpuTable DmonTable::result() const {
  GpuStatistics all;
  for (const DmonGpu& gpu : gpus_) all.add(gpu.spreads);
  GpuTable table{.all = all.figures()};
  for (const DmonGpu& gpu : gpus_) {
    table.gpus.push_back({gpu.spreads.figures(), std::to_string(gpu.index)});
  }
  return table;
}

}  // namespace wattle
