#include "usage/machine.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace wattle {
namespace {

constexpr std::size_t kMeminfoBytes = 8192;

/// The processor time of /proc/stat counts in hundredths of a second: over less than a second a
/// percentage is mostly rounding.
constexpr std::chrono::milliseconds kShortestSpan{1000};

/// Busy share times the number of processors, in percent; absent where no time passed or that
/// number is unknown. A busy time that fell counts as none.
std::optional<double> cpu_percent(const CpuTimes& begin, const CpuTimes& end) noexcept {
  if (end.total <= begin.total || end.processors == 0) return std::nullopt;
  const auto busy = static_cast<double>(end.busy - std::min(begin.busy, end.busy));
  const auto total = static_cast<double>(end.total - begin.total);
  return 100.0 * end.processors * std::min(busy / total, 1.0);
}

/// Ticks that fell count as none.
Seconds interrupted(const CpuTimes& begin, const CpuTimes& end) noexcept {
  const auto passed = [](std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); };
  const std::uint64_t ticks = passed(begin.irq, end.irq) + passed(begin.steal, end.steal);
  return ClockTicks(ticks);
}

}  // namespace

MachineMonitor::MachineMonitor(const System& system)
    : stat_(system), meminfo_(open_for_reading((system.procfs / "meminfo").string())) {}

void MachineMonitor::sample(TimePoint now) noexcept {
  sample_cpu(now);
  sample_memory();
}

void MachineMonitor::sample_cpu(TimePoint now) noexcept {
  const auto times = stat_.read();
  if (!times) return;
  if (!first_) {
    first_ = times;
    span_begin_ = *times;
    span_begin_at_ = now;
  } else if (now - span_begin_at_ >= kShortestSpan) {
    if (const auto percent = cpu_percent(span_begin_, *times)) {
      ++spans_;
      max_cpu_percent_ = std::max(max_cpu_percent_, *percent);
    }
    span_begin_ = *times;
    span_begin_at_ = now;
  }
  cpu_percent_.reset();
  if (const auto sum = last_ ? cpu_percent(*last_, *times) : std::nullopt) {
    if (times->processors > 0) cpu_percent_ = *sum / times->processors;
  }
  last_ = times;
}

void MachineMonitor::sample_memory() noexcept {
  std::array<char, kMeminfoBytes> text;
  const auto memory = parse_memory(text_at_start(meminfo_, text));
  if (!memory) return;
  memory_ = memory;
  peak_memory_bytes_ = std::max(peak_memory_bytes_, memory->used_bytes);
}

MachineUsage MachineMonitor::usage() const noexcept {
  MachineUsage usage;
  if (first_ && last_) {
    usage.interrupted = interrupted(*first_, *last_);
    if (last_->processors > 0) {
      usage.processors = last_->processors;
      usage.mean_cpu_percent = cpu_percent(*first_, *last_);
      if (spans_ >= 2) usage.max_cpu_percent = max_cpu_percent_;
    }
  }
  if (memory_) {
    usage.memory_total_bytes = memory_->total_bytes;
    usage.peak_memory_used_bytes = peak_memory_bytes_;
  }
  return usage;
}

}  // namespace wattle
