// Marks: what a program sends to the `wattle run` that measures it.
//
// One datagram for each mark, to the Unix socket that WATTLE_RUN names, in text:
//   start NAME    a phase starts
//   end NAME      the phase of that name that started last ends; without NAME, the last one
//   next NAME     the phase that started last ends, and another starts
//   unit ID WEIGHT TAG    a unit of work starts: "unit 17 1 request"
//   unit_trace ID WEIGHT TRACEPARENT TAG  the same, of a unit that belongs to a trace: the HTTP
//   header
//                 of W3C Trace Context; one that is not valid is ignored
//   unit_end ID WORK TAG  it ends; WORK: what was done in it, 0 if it is not counted
//   read          asks for the energy since the last mark, or since the start: the run sends one
//                 datagram of JSON (wattle.mark/1) to the address of the socket that asked
// NAME and TAG are everything up to the end of the datagram. ID is a word of at most 64 bytes: two
// units of a tag that run at once have different ones. WEIGHT and WORK are numbers. The kernel's
// time of the datagram counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/trace_context.hpp"

namespace wattle {

enum class MarkKind : std::uint8_t { start, end, next, read, unit, unit_end };

struct Mark {
  MarkKind kind = MarkKind::start;
  std::string name{};   ///< of a phase, or the tag of a unit
  std::string id{};     ///< of a unit
  double number = 0.0;  ///< the weight of a unit that starts, the work of one that ends
  std::optional<TraceContext> trace{};  ///< of a unit that starts
};

/// The longest name of a phase, and tag of a unit, in bytes.
inline constexpr std::size_t kMostMarkBytes = 255;
/// The longest ID of a unit.
inline constexpr std::size_t kMostUnitIdBytes = 64;
/// The variable that names the socket.
inline constexpr const char* kMarkVariable = "WATTLE_RUN";

[[nodiscard]] std::string mark_text(MarkKind kind, std::string_view name);
/// That of a unit. `mark.id` has 1 to 64 bytes and no blank.
[[nodiscard]] std::string unit_mark_text(const Mark& mark);
/// Absent for what is no mark: another word, a name that is missing, a number or an ID that is
/// none. A longer name is cut off, at the end of a character.
[[nodiscard]] std::optional<Mark> parse_mark(std::string_view text);

/// Sends a mark to the socket that the variable names. 0, or an `errno`: ENOENT outside of a run,
/// EAGAIN if the run did not take it in time. Threads: any.
[[nodiscard]] int send_mark(MarkKind kind, std::string_view name) noexcept;
/// The same, of a text that was made.
[[nodiscard]] int send_mark_text(std::string_view text) noexcept;

}  // namespace wattle
