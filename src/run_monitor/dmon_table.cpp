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
  Columns found{.count = 0, .gpu = kNone, .sm = kNone, .mem = kNone, .fb = kNone};
  for (std::string_view name = take_word(names); !name.empty(); name = take_word(names)) {
    const std::size_t column = found.count++;
    if (name == "gpu") found.gpu = column;
    if (name == "sm") found.sm = column;
    if (name == "mem") found.mem = column;
    if (name == "fb") found.fb = column;
    if (name == "pwr") found.pwr = column;
  }
  // Else it is the line of units below the header.
  if (found.gpu != kNone) columns_ = found;
}

bool DmonTable::take_row(std::string_view line) {
  std::optional<unsigned> index;
  Cell sm;
  Cell mem;
  Cell fb;
  Cell pwr;
  std::size_t column = 0;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line), ++column) {
    if (column == columns_.gpu) index = parse_unsigned<unsigned>(word);
    if (column == columns_.sm) sm = parse_cell(word);
    if (column == columns_.mem) mem = parse_cell(word);
    if (column == columns_.fb) fb = parse_cell(word);
    if (column == columns_.pwr) pwr = parse_cell(word);
  }
  if (column != columns_.count || !index) return false;
  if (!is_share(sm) || !is_share(mem) || fb.is_bad() || pwr.is_bad()) return false;
  Gpu* const known = gpu(*index);
  if (known == nullptr) return false;
  known->spreads.util.add(sm);
  known->spreads.mem_util.add(mem);
  known->spreads.memory_mib.add(fb);
  known->spreads.power_w.add(pwr);
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
