#include "sensors/proc_stat.hpp"

#include <array>
#include <string_view>

#include "base/files/file.hpp"

namespace wattle {
namespace {

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
