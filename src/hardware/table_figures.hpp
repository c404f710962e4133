// What the parsers of the run monitor's tables find out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/table_cell.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// Mean and maximum of numbers that are not negative.
class Spread {
 public:
  void add(const Cell& cell) noexcept {
    if (!cell.is_number()) return;
    ++count_;
    sum_ += cell.value;
    max_ = std::max(max_, cell.value);
  }
  void add(const Spread& other) noexcept {
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }
  [[nodiscard]] std::optional<double> mean() const noexcept {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }
  [[nodiscard]] std::optional<double> max() const noexcept {
    return count_ == 0 ? std::nullopt : std::optional(max_);
  }

 private:
  std::uint64_t count_ = 0;
  double sum_ = 0.0;
  double max_ = 0.0;
};

/// Of one GPU, or of all.
struct GpuSpreads {
  Spread util;
  Spread mem_util;
  Spread memory_mib;
  Spread power_w;

  void add(const GpuSpreads& other) noexcept {
    util.add(other.util);
    mem_util.add(other.mem_util);
    memory_mib.add(other.memory_mib);
    power_w.add(other.power_w);
  }
  [[nodiscard]] GpuFigures figures() const;
};

inline GpuFigures GpuSpreads::figures() const {
  return {.peak_vram_mb = memory_mib.max(),
          .gpu_util_mean_pct = util.mean(),
          .gpu_util_max_pct = util.max(),
          .mem_util_mean_pct = mem_util.mean(),
          .mem_util_max_pct = mem_util.max(),
          .power_watts_mean = power_w.mean(),
          .power_watts_max = power_w.max()};
}

/// What a table of GPUs tells.
struct GpuTable {
  GpuFigures all;
  std::vector<GpuSummary> gpus;
  std::string problem;
};

/// More GPUs than any machine has: rows of others count as damaged, so that no file can take more
/// memory than this.
inline constexpr std::size_t kMostGpus = 1024;

}  // namespace wattle
