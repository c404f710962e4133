// Processes in procfs: one's own figures, and who descends from whom.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The fields of /proc/PID/stat that Wattle uses. Times are in clock ticks.
struct ProcessStat {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';                      ///< 'Z': has ended, not yet waited for
  std::string name;                      ///< at most 15 bytes, printable
  std::int64_t minor_faults = 0;         ///< answered from memory
  std::int64_t waited_minor_faults = 0;  ///< of the children that it waited for, and of theirs
  std::int64_t major_faults = 0;         ///< that waited for storage
  std::int64_t waited_major_faults = 0;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  std::uint64_t waited_user = 0;
  std::uint64_t waited_system = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_time = 0;     ///< since boot; with `pid` it names a process for good
  std::uint64_t address_bytes = 0;  ///< 0: it has given its memory back, or is a kernel thread
  /// In memory, by the kernel's own count, which lags by up to some pages a thread; absent where
  /// the text ends before it.
  std::optional<std::uint64_t> resident_bytes{};
};

/// False for one whose first thread alone has left: the others go on.
[[nodiscard]] inline bool has_ended(const ProcessStat& stat) noexcept {
  return stat.state == 'X' || (stat.state == 'Z' && stat.threads <= 1);
}

/// True for one that is about to be a zombie: it has no memory any more, and may work on for long
/// to give it back.
[[nodiscard]] inline bool is_ending(const ProcessStat& stat) noexcept {
  return stat.state != 'Z' && stat.address_bytes == 0;
}

/// The number of a process, or of a thread.
[[nodiscard]] std::optional<pid_t> parse_pid(std::string_view text) noexcept;
/// Absent where `text` is not what the kernel writes. The name may hold blanks and parentheses.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// A process that nobody has waited for yet, and what it used so far.
struct LiveProcess {
  pid_t pid = 0;
  std::string name;
  bool ended = false;   ///< a zombie: it uses nothing more
  Seconds cpu_user{0};  ///< its own, and of those that it waited for
  Seconds cpu_system{0};
  std::optional<std::uint64_t> peak_rss_bytes{};
  std::uint64_t minor_faults = 0;  ///< as the times
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;  ///< of its first thread, the only one that is read
  std::uint64_t involuntary_switches = 0;
};

/// All descendants of this process, by procfs; absent where procfs does not show it (another
/// machine's tree). Reads every process of the machine: 4 to 8 us for each.
[[nodiscard]] std::optional<std::vector<LiveProcess>> live_descendants(const System& system);

/// A file of numbers beside `stat`: /proc/PID/statm, in bytes.
struct ProcessMemory {
  std::uint64_t rss_bytes = 0;     ///< 0 for a process that has ended, and for kernel threads
  std::uint64_t shared_bytes = 0;  ///< of them: pages of files and of shared memory
};
[[nodiscard]] std::optional<ProcessMemory> parse_statm(std::string_view text) noexcept;

/// From /proc/PID/smaps_rollup, in bytes.
struct ProportionalMemory {
  std::uint64_t rss_bytes = 0;
  std::uint64_t pss_bytes = 0;      ///< each page divided by the number of its users
  std::uint64_t private_bytes = 0;  ///< Private_Clean + Private_Dirty
};
[[nodiscard]] std::optional<ProportionalMemory> parse_smaps_rollup(std::string_view text) noexcept;

/// From /proc/PID/io, in bytes: read and written by system calls, read from and written to storage.
/// Those of the process and of the children that it waited for.
using IoCounts = std::array<std::int64_t, 4>;
[[nodiscard]] std::optional<IoCounts> parse_process_io(std::string_view text) noexcept;

/// Context switches of one thread, voluntary and involuntary, from the text of its `status`.
using SwitchCounts = std::array<std::int64_t, 2>;
[[nodiscard]] std::optional<SwitchCounts> parse_switches(std::string_view text) noexcept;

/// Peak resident set (VmHWM) from the text of /proc/PID/status.
[[nodiscard]] std::optional<std::uint64_t> parse_peak_rss(std::string_view text) noexcept;

}  // namespace wattle
