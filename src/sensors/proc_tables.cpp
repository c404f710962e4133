#include "sensors/proc_tables.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle {
namespace {

/// "cpu0", "cpu17" ... as the first word of a line.
bool names_a_processor(std::string_view word) noexcept {
  return word.starts_with("cpu") && word.size() > 3 && is_digit(word[3]);
}

/// The word after `before` others; empty where there are fewer.
std::string_view word_after(std::string_view line, int before) noexcept {
  for (int i = 0; i < before; ++i) (void)take_word(line);
  return take_word(line);
}

void add(std::optional<ByteTotals>& sum, const ByteTotals& more) noexcept {
  if (!sum) sum.emplace();
  add_saturating(sum->in, more.in);
  add_saturating(sum->out, more.out);
}

/// Two numbers of a line, in units of `unit` bytes.
std::optional<ByteTotals> totals_at(std::string_view line, int in, int out,
                                    std::uint64_t unit) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto first = parse_unsigned<std::uint64_t>(word_after(line, in));
  const auto second = parse_unsigned<std::uint64_t>(word_after(line, out));
  if (!first || !second || std::max(*first, *second) > kMost / unit) return std::nullopt;
  return ByteTotals{.in = *first * unit, .out = *second * unit};
}

/// The sizes after `keys` in the text of /proc/meminfo, in bytes; absent where one is missing.
template <std::size_t Size>
std::optional<std::array<std::uint64_t, Size>> parse_sizes(
    std::string_view text, const std::array<std::string_view, Size>& keys) noexcept {
  auto sizes = numbers_after<std::uint64_t>(keys, text, UINT64_MAX / 4096);
  for (std::size_t i = 0; sizes && i < Size; ++i) (*sizes)[i] *= 1024;
  return sizes;
}

/// Room for the "cpu" lines of all processors, and as much to spare: their numbers grow, and more
/// processors may come online.
std::vector<char> room_for_processors(const Fd& stat) {
  constexpr std::size_t kHundredProcessors = 8192;
  std::array<char, kHundredProcessors> few;
  // The line after the processors. Room that is not needed would be written to, and read into.
  const std::size_t end = text_at_start(stat, few).find("\nintr");
  if (end != std::string_view::npos) {
    return std::vector<char>(2 * end + 256);
  }
  std::vector<char> room(kHundredProcessors);
  while (room.size() < kMaxFileBytes) {
    const std::string_view text = text_at_start(stat, room);
    if (text.size() < room.size()) break;  // all of it, or an error
    const auto times = parse_cpu_times(text);
    if (!times || times->processors > 0) break;
    room.resize(2 * room.size());
  }
  room.resize(2 * room.size());
  return room;
}

}  // namespace

void add_saturating(std::uint64_t& sum, std::uint64_t term) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  sum = term > kMost - sum ? kMost : sum + term;
}

std::optional<CpuTimes> parse_cpu_times(std::string_view text) noexcept {
  std::string_view line = take_line(text);
  if (take_word(line) != "cpu") return std::nullopt;
  CpuTimes times;
  // user nice system idle iowait irq softirq steal; the guest fields after them are contained in
  // user and nice. Kernels before 2.6.11 have fewer fields.
  constexpr std::array kFields = {&CpuTimes::user, &CpuTimes::user,   &CpuTimes::system,
                                  &CpuTimes::idle, &CpuTimes::iowait, &CpuTimes::irq,
                                  &CpuTimes::irq,  &CpuTimes::steal};
  for (std::size_t field = 0; field < kFields.size(); ++field) {
    const std::string_view word = take_word(line);
    if (word.empty() && field > 3) break;
    const auto ticks = parse_unsigned<std::uint64_t>(word);
    if (!ticks) return std::nullopt;
    const bool idle = field == 3 || field == 4;
    const bool stolen = field == 7;
    add_saturating(times.*kFields.at(field), *ticks);
    add_saturating(times.total, *ticks);
    if (!idle && !stolen) add_saturating(times.busy, *ticks);
  }
  unsigned processors = 0;
  std::string_view name;
  do {
    std::string_view next_line = take_line(text);
    name = take_word(next_line);
    if (names_a_processor(name)) ++processors;
  } while (names_a_processor(name));
  // Only the start of another line shows that the list is whole; the kernel always writes more.
  const bool cut_off = std::string_view("cpu").starts_with(name);
  if (!cut_off) times.processors = processors;
  return times;
}

std::optional<MemoryState> parse_memory(std::string_view text) noexcept {
  const auto values = parse_sizes<2>(text, {"MemTotal:", "MemAvailable:"});
  if (!values) return std::nullopt;
  const auto [total, available] = *values;
  return MemoryState{.total_bytes = total, .used_bytes = total - std::min(total, available)};
}

std::optional<MappedMemory> parse_mapped_memory(std::string_view text) noexcept {
  const auto total = parse_sizes<1>(text, {"MemTotal:"});
  const auto mapped = parse_sizes<2>(text, {"AnonPages:", "Mapped:"});
  if (!total && !mapped) return std::nullopt;
  MappedMemory memory;
  if (total) memory.machine_bytes = total->front();
  memory.anonymous_bytes = mapped ? mapped->front() : memory.machine_bytes;
  memory.file_bytes = mapped ? mapped->back() : memory.machine_bytes;
  return memory;
}

std::optional<Pressure> parse_pressure(std::string_view text) noexcept {
  std::optional<double> some_s;
  std::optional<double> full_s;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view kind = take_word(line);
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      constexpr std::string_view kTotal = "total=";
      if (!word.starts_with(kTotal)) continue;
      const auto microseconds = parse_unsigned<std::uint64_t>(word.substr(kTotal.size()));
      if (!microseconds) return std::nullopt;
      const double seconds = static_cast<double>(*microseconds) / 1e6;
      if (kind == "some") some_s = seconds;
      if (kind == "full") full_s = seconds;
    }
  }
  if (!some_s) return std::nullopt;
  return Pressure{.some_s = *some_s, .full_s = full_s};
}

std::optional<ByteTotals> parse_disk_totals(std::string_view text, const NameFilter& counts) {
  // major minor name, reads, merged, sectors read, ms, writes, merged, sectors written; a sector
  // here is 512 bytes, whatever the disk's own are (Documentation/admin-guide/iostats.rst).
  constexpr std::uint64_t kSectorBytes = 512;
  std::optional<ByteTotals> sum;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::string_view name = word_after(line, 2);
    if (name.empty() || !counts(name)) continue;
    if (const auto totals = totals_at(line, 5, 9, kSectorBytes)) add(sum, *totals);
  }
  return sum;
}

std::optional<ByteTotals> parse_network_totals(std::string_view text, const NameFilter& counts) {
  std::optional<ByteTotals> sum;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view name = take_key(line, ':');
    if (name.empty() || !counts(name)) continue;  // the header has none
    if (const auto totals = totals_at(line, 0, 8, 1)) add(sum, *totals);
  }
  return sum;
}

ProcStat::ProcStat(const System& system)
    : file_(open_for_reading((system.procfs / "stat").string())),
      text_(room_for_processors(file_)) {}

std::optional<CpuTimes> ProcStat::read() noexcept {
  return parse_cpu_times(text_at_start(file_, text_));
}

std::optional<CpuTimes> ProcStat::read_times() noexcept {
  constexpr std::size_t kFirstLineBytes = 512;  // it has all processors together
  std::array<char, kFirstLineBytes> text;
  return parse_cpu_times(text_at_start(file_, text));
}

}  // namespace wattle
