#include "run_monitor/gpu_table.hpp"

#include <algorithm>
#include <utility>

#include "base/split.hpp"

namespace wattle {

void GpuCsv::take(std::string_view line) {
  const bool may_be_header = !line.empty() && !is_digit(line[0]);
  if (may_be_header && reader_.take_header(line)) return;
  take_row(line);
}

void GpuCsv::take_damaged() {
  if (has_names() || !reader_.has_time()) {
    RowCounts::take_damaged();
    return;
  }
  rounds_.add({}, placed_);
  count_placed();
}

void GpuCsv::take_row(std::string_view line) {
  const GpuRow row = reader_.read(line);
  if (row.is_good()) {
    ++readable_;
  } else {
    note_bad([&] { return reader_.why_bad(line); });
  }
  if (has_names()) {
    const std::string_view name = reader_.has_index() ? reader_.index() : reader_.uuid();
    count(row.is_good() ? gpu_named(name) : nullptr, row);
    return;
  }
  if (!reader_.has_time()) {
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
