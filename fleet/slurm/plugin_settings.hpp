// What plugstack.conf sets for the plugin.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wattle::slurm {

/// What becomes of a step: not measured; measured; and srun prints a line or JSON at its end.
enum class Choice : unsigned char { off, quiet, text, json };

/// The value of --wattle; empty: it has none. Absent: it is no choice.
[[nodiscard]] std::optional<Choice> parse_choice(std::string_view word) noexcept;

struct Settings {
  Choice choice = Choice::off;               ///< default=off|quiet|text|json: without --wattle
  std::string program = "/usr/bin/wattle";   ///< program=PATH
  std::string folder{};                      ///< folder=PATH; empty: that of `wattle step`
  std::string interval = "1";                ///< interval=SECONDS
  std::string gpus = "all";                  ///< gpus=LIST
  bool saves = true;                         ///< history=yes|no
  bool comments = false;                     ///< comment=yes|no
  std::chrono::milliseconds start_wait{5};   ///< start_wait=MS: at most, for the window to open
  std::chrono::milliseconds end_wait{2000};  ///< end_wait=MS: at most, for the record
};

/// The words after the plugin's path. What is no setting is in `wrong`, and changes nothing.
[[nodiscard]] Settings parse_settings(int count, char** words, std::vector<std::string>& wrong);

}  // namespace wattle::slurm
