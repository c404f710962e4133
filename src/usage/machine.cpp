#include "usage/machine.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <limits>

#include "base/file.hpp"
#include "base/parse.hpp"

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

/// "cpu0", "cpu17" ... as the first word of a line.
bool names_a_processor(std::string_view word) noexcept {
  return word.starts_with("cpu") && word.size() > 3 &&
         std::isdigit(static_cast<unsigned char>(word[3])) != 0;
}

/// Room for the "cpu" lines of all processors in /proc/stat, and as much to spare: their numbers
/// grow, and more processors may come online.
std::vector<char> room_for_processors(const Fd& stat) {
  constexpr std::size_t kHundredProcessors = 8192;
  std::vector<char> room(kHundredProcessors);
  while (room.size() < kMaxFileBytes) {
    const ssize_t count = stat ? read_at_start(stat.get(), room) : -1;
    if (count < static_cast<ssize_t>(room.size())) break;  // all of it, or an error
    const auto times = parse_cpu_times({room.data(), room.size()});
    if (!times || times->processors > 0) break;
    room.resize(2 * room.size());
  }
  room.resize(2 * room.size());
  return room;
}

/// Saturates: a sum of garbage must not wrap around.
void add_to(std::uint64_t& sum, std::uint64_t term) noexcept {
  sum = term > std::numeric_limits<std::uint64_t>::max() - sum
            ? std::numeric_limits<std::uint64_t>::max()
            : sum + term;
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view text) noexcept {
  std::string_view line = take_line(text);
  if (take_word(line) != "cpu") return std::nullopt;
  CpuTimes times;
  // user nice system idle iowait irq softirq steal; the guest fields behind them are contained in
  // user and nice. Kernels before 2.6.11 have fewer fields.
  for (int field = 0; field < 8; ++field) {
    const std::string_view word = take_word(line);
    if (word.empty() && field > 3) break;
    const auto ticks = parse_unsigned<std::uint64_t>(word);
    if (!ticks) return std::nullopt;
    const bool idle = field == 3 || field == 4;
    const bool stolen = field == 7;
    add_to(times.total, *ticks);
    if (!idle && !stolen) add_to(times.busy, *ticks);
  }
  unsigned processors = 0;
  std::string_view name;
  do {
    std::string_view next_line = take_line(text);
    name = take_word(next_line);
    if (names_a_processor(name)) ++processors;
  } while (names_a_processor(name));
  // Only the begin of another line shows that the list is whole; the kernel always writes more.
  const bool cut_off = std::string_view("cpu").starts_with(name);
  if (!cut_off) times.processors = processors;
  return times;
}

std::optional<MemoryState> parse_memory(std::string_view text) noexcept {
  std::optional<std::uint64_t> total_kib;
  std::optional<std::uint64_t> available_kib;
  while (!text.empty() && !(total_kib && available_kib)) {
    std::string_view line = take_line(text);
    const std::string_view key = take_word(line);
    if (key == "MemTotal:") total_kib = parse_unsigned<std::uint64_t>(take_word(line));
    if (key == "MemAvailable:") available_kib = parse_unsigned<std::uint64_t>(take_word(line));
  }
  constexpr std::uint64_t kMostKib = std::numeric_limits<std::uint64_t>::max() / 1024;
  if (!total_kib || !available_kib || *total_kib > kMostKib) return std::nullopt;
  const std::uint64_t used_kib = *total_kib - std::min(*total_kib, *available_kib);
  return MemoryState{.total_bytes = *total_kib * 1024, .used_bytes = used_kib * 1024};
}

MachineMonitor::MachineMonitor(const System& system)
    : stat_(open_for_reading((system.procfs / "stat").string())),
      meminfo_(open_for_reading((system.procfs / "meminfo").string())),
      stat_text_(room_for_processors(stat_)) {}

void MachineMonitor::sample(TimePoint now) noexcept {
  sample_cpu(now);
  sample_memory();
}

void MachineMonitor::sample_cpu(TimePoint now) noexcept {
  const ssize_t count = stat_ ? read_at_start(stat_.get(), stat_text_) : -1;
  if (count <= 0) return;
  const auto times = parse_cpu_times({stat_text_.data(), static_cast<std::size_t>(count)});
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
  const ssize_t count = meminfo_ ? read_at_start(meminfo_.get(), text) : -1;
  if (count <= 0) return;
  const auto memory = parse_memory({text.data(), static_cast<std::size_t>(count)});
  if (!memory) return;
  memory_ = memory;
  peak_memory_bytes_ = std::max(peak_memory_bytes_, memory->used_bytes);
}

MachineUsage MachineMonitor::usage() const noexcept {
  MachineUsage usage;
  if (first_ && last_) {
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
