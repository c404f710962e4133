#include "run_monitor/dmon_table.hpp"

#include <algorithm>
#include <string>

#include "base/parse.hpp"
#include "base/split.hpp"

namespace wattle {

void DmonTable::take(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('#')) {
    take_header(line.substr(1));
  } else {
    count_row(take_row(line));
  }
}

void DmonTable::take_header(std::string_view names) {
  Columns found{.count = 0, .places = {}};
  found.places.fill(kNone);
  for (std::string_view name = take_word(names); !name.empty(); name = take_word(names)) {
    const auto* const known = std::ranges::find(kNames, name);
    if (known != kNames.end()) {
      found.places.at(static_cast<std::size_t>(known - kNames.begin())) = found.count;
    }
    ++found.count;
  }
  // Else it is the line of units below the header.
  if (found.places.front() != kNone) columns_ = found;
}

bool DmonTable::take_row(std::string_view line) {
  std::array<std::string_view, kNames.size()> words;
  std::size_t column = 0;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line), ++column) {
    const auto* const place = std::ranges::find(columns_.places, column);
    if (place != columns_.places.end()) {
      words.at(static_cast<std::size_t>(place - columns_.places.begin())) = word;
    }
  }
  const auto index = parse_unsigned<unsigned>(words[0]);
  const GpuRow row{.whole = column == columns_.count && index,
                   .util = parse_cell(words[1]),
                   .mem_util = parse_cell(words[2]),
                   .memory = parse_cell(words[3]),
                   .power = parse_cell(words[4])};
  Gpu* const known = row.is_good() ? gpu(*index) : nullptr;
  if (known == nullptr) return false;
  known->spreads.add(row);
  return true;
}

DmonTable::Gpu* DmonTable::gpu(unsigned index) {
  const auto known = std::ranges::find(gpus_, index, &Gpu::index);
  if (known != gpus_.end()) return &*known;
  if (gpus_.size() == kMostGpus) return nullptr;
  return &gpus_.emplace_back(Gpu{.index = index});
}

GpuTable DmonTable::result() const {
  GpuSpreads all;
  for (const Gpu& gpu : gpus_) all.add(gpu.spreads);
  GpuTable table{.all = all.figures()};
  for (const Gpu& gpu : gpus_) {
    table.gpus.push_back({gpu.spreads.figures(), std::to_string(gpu.index)});
  }
  return table;
}

}  // namespace wattle
