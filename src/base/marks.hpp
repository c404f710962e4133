// Marks: what a program sends to the `wattle run` that measures it.
//
// One datagram for each mark, to the Unix socket that WATTLE_RUN names, in text:
//   start NAME    a phase starts
//   end NAME      the phase of that name that started last ends; without NAME, the last one
//   next NAME     the phase that started last ends, and another starts
//   read          asks for the energy since the last mark, or since the start: the run sends one
//                 datagram of JSON (wattle.mark/1) to the address of the socket that asked
// NAME is everything up to the end of the datagram. The kernel's time of the datagram counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wattle {

enum class MarkKind : std::uint8_t { start, end, next, read };

struct Mark {
  MarkKind kind = MarkKind::start;
  std::string name{};
};

/// The longest name of a phase, in bytes.
inline constexpr std::size_t kMostMarkBytes = 255;
/// The variable that names the socket.
inline constexpr const char* kMarkVariable = "WATTLE_RUN";

[[nodiscard]] std::string mark_text(MarkKind kind, std::string_view name);
/// Absent for what is no mark: another word, or a name that is missing. A longer name is cut off,
/// at the end of a character.
[[nodiscard]] std::optional<Mark> parse_mark(std::string_view text);

/// Sends a mark to the socket that the variable names. 0, or an `errno`: ENOENT outside of a run,
/// EAGAIN if the run did not take it in time. Threads: any.
[[nodiscard]] int send_mark(MarkKind kind, std::string_view name) noexcept;

}  // namespace wattle
