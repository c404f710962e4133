#include "usage/process/process.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "usage/process/procfs.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// This process's number in the PID namespace that procfs shows.
std::optional<pid_t> own_pid(const fs::path& procfs) {
  std::error_code error;
  const fs::path self = fs::read_symlink(procfs / "self", error);
  if (error) return std::nullopt;
  return parse_pid(self.string());
}

/// Every process of the machine, by parent.
std::multimap<pid_t, ProcessStat> processes_by_parent(const System& system) {
  const Procfs procfs(system, 0);
  std::multimap<pid_t, ProcessStat> by_parent;
  for (const pid_t pid : procfs.processes()) {
    auto process = procfs.read_stat(pid);
    if (process) by_parent.emplace(process->parent, std::move(*process));
  }
  return by_parent;
}

LiveProcess describe(const fs::path& procfs, const ProcessStat& process) {
  LiveProcess live{.pid = process.pid,
                   .name = process.name,
                   .ended = process.state == 'Z',
                   .cpu_user = ClockTicks(process.user + process.waited_user),
                   .cpu_system = ClockTicks(process.system + process.waited_system)};
  live.minor_faults =
      static_cast<std::uint64_t>(process.minor_faults + process.waited_minor_faults);
  live.major_faults =
      static_cast<std::uint64_t>(process.major_faults + process.waited_major_faults);
  const auto status = read_file((procfs / std::to_string(process.pid) / "status").string());
  if (!status) return live;
  live.peak_rss_bytes = parse_peak_rss(*status);
  if (const auto switches = parse_switches(*status)) {
    live.voluntary_switches = static_cast<std::uint64_t>((*switches)[0]);
    live.involuntary_switches = static_cast<std::uint64_t>((*switches)[1]);
  }
  return live;
}

std::uint64_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// No machine lives long enough to count further; sums of some have room.
constexpr std::uint64_t kMostCount = (std::uint64_t{1} << 60U) - 1;

}  // namespace

std::optional<pid_t> parse_pid(std::string_view text) noexcept {
  const auto number = parse_unsigned<std::uint32_t>(text);
  // Beyond what `pid_t` holds it would be that of a group.
  if (!number || !std::in_range<pid_t>(*number)) return std::nullopt;
  return static_cast<pid_t>(*number);
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");  // the name itself may hold one
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  ProcessStat process;
  const auto pid = parse_pid(text.substr(0, open));
  std::string_view rest = text.substr(close + 2);
  const std::string_view state = take_word(rest);
  const auto parent = parse_pid(take_word(rest));
  if (!pid || !parent || state.size() != 1) return std::nullopt;
  process.pid = *pid;
  process.parent = *parent;
  process.state = state[0];
  process.name = printable(text.substr(open + 2, close - open - 2));
  for (int field = 5; field < 10; ++field) take_word(rest);  // proc(5) counts from 1
  for (std::int64_t* faults : {&process.minor_faults, &process.waited_minor_faults,
                               &process.major_faults, &process.waited_major_faults}) {
    const auto value = parse_unsigned<std::uint64_t>(take_word(rest));
    if (!value || *value > kMostCount) return std::nullopt;
    *faults = static_cast<std::int64_t>(*value);
  }
  for (std::uint64_t* ticks :
       {&process.user, &process.system, &process.waited_user, &process.waited_system}) {
    const auto value = parse_unsigned<std::uint64_t>(take_word(rest));
    if (!value) return std::nullopt;
    *ticks = *value;
  }
  take_word(rest);  // priority
  take_word(rest);  // nice
  const auto threads = parse_unsigned<std::uint64_t>(take_word(rest));
  take_word(rest);  // itrealvalue
  const auto start_time = parse_unsigned<std::uint64_t>(take_word(rest));
  const auto address_bytes = parse_unsigned<std::uint64_t>(take_word(rest));
  if (!threads || !start_time || !address_bytes) return std::nullopt;
  process.threads = *threads;
  process.start_time = *start_time;
  process.address_bytes = *address_bytes;
  const auto resident = parse_unsigned<std::uint64_t>(take_word(rest));
  if (resident && *resident <= UINT64_MAX / page_bytes()) {
    process.resident_bytes = *resident * page_bytes();
  }
  return process;
}

std::optional<ProcessMemory> parse_statm(std::string_view text) noexcept {
  take_word(text);  // size
  const auto resident = parse_unsigned<std::uint64_t>(take_word(text));
  const auto shared = parse_unsigned<std::uint64_t>(take_word(text));
  if (!resident || !shared || *resident > UINT64_MAX / page_bytes()) return std::nullopt;
  return ProcessMemory{.rss_bytes = *resident * page_bytes(),
                       .shared_bytes = std::min(*shared, *resident) * page_bytes()};
}

std::optional<ProportionalMemory> parse_smaps_rollup(std::string_view text) noexcept {
  ProportionalMemory memory;
  constexpr unsigned kFields = 4;
  unsigned found = 0;
  (void)take_line(text);  // the range of addresses
  while (!text.empty() && found < kFields) {
    std::string_view line = take_line(text);
    const std::string_view key = take_word(line);
    std::uint64_t* const sum = key == "Rss:"   ? &memory.rss_bytes
                               : key == "Pss:" ? &memory.pss_bytes
                               : key == "Private_Clean:" || key == "Private_Dirty:"
                                   ? &memory.private_bytes
                                   : nullptr;
    if (sum == nullptr) continue;
    const auto kib = parse_unsigned<std::uint64_t>(take_word(line));
    if (!kib || *kib > UINT64_MAX / 4096) return std::nullopt;
    *sum += *kib * 1024;
    ++found;
  }
  return found == kFields ? std::optional(memory) : std::nullopt;
}

std::optional<IoCounts> parse_process_io(std::string_view text) noexcept {
  return numbers_after<std::int64_t, 4>({"rchar:", "wchar:", "read_bytes:", "write_bytes:"}, text,
                                        kMostCount);
}

std::optional<SwitchCounts> parse_switches(std::string_view text) noexcept {
  return numbers_after<std::int64_t, 2>({"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"},
                                        text, kMostCount);
}

std::optional<std::uint64_t> parse_peak_rss(std::string_view text) noexcept {
  const auto kib = numbers_after<std::uint64_t, 1>({"VmHWM:"}, text, UINT64_MAX / 1024);
  return kib ? std::optional(kib->front() * 1024) : std::nullopt;
}

std::optional<std::vector<LiveProcess>> live_descendants(const System& system) {
  const std::optional<pid_t> self = own_pid(system.procfs);
  if (!self) return std::nullopt;
  auto by_parent = processes_by_parent(system);
  std::vector<LiveProcess> found;
  std::vector<pid_t> open = {*self};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [begin, end] = by_parent.equal_range(parent);
    for (auto it = begin; it != end; ++it) {
      found.push_back(describe(system.procfs, it->second));
      open.push_back(it->second.pid);
    }
    by_parent.erase(begin, end);  // a tree of garbage may hold a circle: nobody is visited twice
  }
  return found;
}

}  // namespace wattle
