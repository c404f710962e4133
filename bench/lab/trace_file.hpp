// A recorded load from a file: the only one that the lab reads.
#pragma once

#include <string>
#include <string_view>

#include "lab/waveform.hpp"

namespace wattle::lab {

/// Lines of TIME_S,POWER_W: times increase, each power holds until the next line, and the last
/// line ends the trace, which then begins anew. A first line that begins with a letter is a
/// heading; empty lines count for nothing. Throws `InvalidArgument`, with `name` and the line, for
/// anything else.
[[nodiscard]] Waveform parse_trace(std::string_view text, std::string_view name);

/// Throws `InvalidArgument` too where the file cannot be read.
[[nodiscard]] Waveform read_trace(const std::string& path);

}  // namespace wattle::lab
