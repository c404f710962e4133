// The command line of `wattle stream`.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "cli/answer.hpp"
#include "stream/stream_text.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle::app {

/// The servers to follow, and what to print.
struct StreamOptions {
  std::vector<Server> servers;
  std::chrono::nanoseconds period{0};  ///< between two lines, or two updates of the table
  StreamTable table{};
  bool as_json = false;  ///< also on a terminal
};

/// A variable of the environment; null where it is not set.
using Environment = std::function<const char*(const char*)>;

/// Parses the words after `wattle stream`. Wrong words throw nothing: they give an answer. Without
/// a server the environment names one, else it is the daemon of this machine.
[[nodiscard]] std::variant<StreamOptions, Answer> parse_stream_options(
    std::vector<std::string> words, const Environment& environment);

}  // namespace wattle::app
