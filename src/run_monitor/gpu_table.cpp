#include "run_monitor/gpu_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/parse.hpp"
#include "base/split.hpp"
#include "run_monitor/time_text.hpp"

namespace wattle {
namespace {

constexpr std::size_t kStepBytes = sizeof(std::uint64_t);

/// The highest bit of each byte that is a comma, the first byte in the lowest ones.
std::uint64_t commas_in(const char* bytes) noexcept {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  word ^= kEach * ',';  // now a comma is a zero
  const std::uint64_t low_bits = (word & kEach * 0x7F) + kEach * 0x7F;
  return ~(low_bits | word) & kEach * 0x80;
}

/// The name of a column: without its unit, "power.draw [W]".
std::string_view column_name(std::string_view cell) noexcept {
  return trimmed(cell.substr(0, cell.find('[')));
}

}  // namespace

void GpuCsv::take(std::string_view line) {
  const bool may_be_header = !line.empty() && !is_digit(line[0]);
  if (may_be_header && take_header(line)) return;
  take_row(line);
}

void GpuCsv::take_damaged() {
  if (has_names() || columns_.timestamp == kNone) {
    RowCounts::take_damaged();
    return;
  }
  rounds_.add({}, placed_);
  count_placed();
}

std::size_t GpuCsv::split(std::string_view line) noexcept {
  std::size_t count = 0;
  std::size_t begin = 0;
  const auto end_cell = [&](std::size_t end) {
    if (count < kMostColumns) cells_[count] = line.substr(begin, end - begin);
    count += count <= kMostColumns ? 1 : 0;
    begin = end + 1;
  };
  std::size_t i = 0;
  for (; i + kStepBytes <= line.size(); i += kStepBytes) {
    for (std::uint64_t commas = commas_in(line.data() + i); commas != 0; commas &= commas - 1) {
      end_cell(i + static_cast<std::size_t>(std::countr_zero(commas)) / 8);
    }
  }
  for (; i < line.size(); ++i) {
    if (line[i] == ',') end_cell(i);
  }
  end_cell(line.size());
  cells_[kNone] = {};
  return count;
}

bool GpuCsv::take_header(std::string_view line) {
  Columns found{.count = split(line),
                .timestamp = kNone,
                .util = kNone,
                .mem_util = kNone,
                .memory = kNone,
                .power = kNone};
  if (found.count > kMostColumns) return false;
  const auto column = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      for (std::size_t i = 0; i < found.count; ++i) {
        if (column_name(cells_[i]) == name) return i;
      }
    }
    return kNone;
  };
  found.timestamp = column({"timestamp"});
  found.util = column({"utilization.gpu"});
  found.mem_util = column({"utilization.memory"});
  found.memory = column({"memory.used"});
  found.power = column({"power.draw", "power.draw.average", "power.draw.instant"});
  found.index = column({"index"});
  found.uuid = column({"uuid", "gpu_uuid"});
  const bool is_header = found.timestamp != kNone || found.util != kNone || found.memory != kNone ||
                         found.power != kNone;
  if (is_header) columns_ = found;
  return is_header;
}

void GpuCsv::take_row(std::string_view line) {
  const std::size_t count_of_cells = split(line);
  GpuRow row;
  if (columns_.timestamp < count_of_cells) {
    row.time_ms = parse_local_ms(trimmed(cells_[columns_.timestamp]));
  }
  row.whole = count_of_cells == columns_.count && (columns_.timestamp == kNone || row.time_ms);
  if (row.whole) {
    row.util = parse_cell(cells_[columns_.util]);
    row.mem_util = parse_cell(cells_[columns_.mem_util]);
    row.memory = parse_cell(cells_[columns_.memory]);
    row.power = parse_cell(cells_[columns_.power]);
  }
  if (has_names()) {
    const std::size_t name = columns_.index != kNone ? columns_.index : columns_.uuid;
    count(row.is_good() ? gpu_named(trimmed(cells_[name])) : nullptr, row);
    return;
  }
  if (columns_.timestamp == kNone) {
    lacks_time_ = lacks_time_ || row.whole;
    count(row.is_good() ? gpu_at(0) : nullptr, row);
    return;
  }
  rounds_.add(row, placed_);
  count_placed();
}

void GpuCsv::count_placed() {
  for (const GpuRowAssigner::AssignedRow& placed : placed_) {
    count(placed.place && placed.row.is_good() ? gpu_at(*placed.place) : nullptr, placed.row);
  }
  placed_.clear();
}

void GpuCsv::count(Gpu* gpu, const GpuRow& row) {
  count_row(gpu != nullptr);
  if (gpu == nullptr) return;
  if (gpu->has_pace) {
    add(*gpu, row);
    return;
  }
  gpu->early.push_back(row);
  if (gpu->early.size() > RowGaps::kRecent) settle(*gpu);
}

/// What the first rows are held against is known when there are some more.
void GpuCsv::settle(Gpu& gpu) {
  std::vector<std::int64_t> times_ms;
  for (const GpuRow& row : gpu.early) {
    if (row.time_ms) times_ms.push_back(*row.time_ms);
  }
  gpu.gaps.learn(times_ms);
  gpu.has_pace = true;
  for (const GpuRow& row : std::exchange(gpu.early, {})) add(gpu, row);
}

void GpuCsv::add(Gpu& gpu, const GpuRow& row) {
  // Without times all rows count the same.
  std::optional<double> weight = 1.0;
  if (row.time_ms) {
    const RowGaps::Gap gap = gpu.gaps.next(*row.time_ms);
    weight = gap.weight();
    gpu.power.add(*row.time_ms, gap, row.power);
  }
  gpu.spreads.add(row, weight);
}

GpuCsv::Gpu* GpuCsv::gpu_at(std::size_t place) {
  while (place >= gpus_.size()) {
    if (gpus_.size() == kMostGpus) return nullptr;
    gpus_.emplace_back(Gpu{.name = std::to_string(gpus_.size())});
  }
  return &gpus_[place];
}

GpuCsv GpuCsv::ended() const {
  GpuCsv ended = *this;
  ended.rounds_.end(ended.placed_);
  ended.count_placed();
  for (Gpu& gpu : ended.gpus_) {
    if (!gpu.has_pace) settle(gpu);
  }
  return ended;
}

GpuCsv::Gpu* GpuCsv::gpu_named(std::string_view name) {
  constexpr std::size_t kMostBytes = 80;  // a UUID has 40
  if (name.empty() || name.size() > kMostBytes) return nullptr;
  const auto known = std::ranges::find(gpus_, name, &Gpu::name);
  if (known != gpus_.end()) return &*known;
  if (gpus_.size() == kMostGpus) return nullptr;
  return &gpus_.emplace_back(Gpu{.name = std::string(name)});
}

GpuTable GpuCsv::result() const { return ended().figures(); }

GpuTable GpuCsv::figures() const {
  GpuSpreads all;
  for (const Gpu& gpu : gpus_) all.add(gpu.spreads);
  GpuTable table{.all = all.figures()};
  if (lacks_time_ || rounds_.is_unclear()) {
    table.problem =
        "which GPU a row is of is not known (no column index or uuid, and the times do not show "
        "which rows are of one moment): no figures per GPU, no energy";
    return table;
  }
  for (const Gpu& gpu : gpus_) {
    GpuSummary summary{gpu.spreads.figures(), gpu.name};
    summary.set_energy(gpu.power.energy(), Method::integrated);
    table.gpus.push_back(std::move(summary));
  }
  sum_energies(table);
  return table;
}

}  // namespace wattle
