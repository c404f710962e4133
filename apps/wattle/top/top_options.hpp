// The command line of `wattle top`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "top/top_key.hpp"
#include "top/units.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// `wattle top`.
struct TopOptions {
  System system;
  bool once = false;                   ///< one table over `length`
  std::chrono::nanoseconds length{0};  ///< else the period
  TopKey key = TopKey::command;
  bool json = false;
  bool estimate = false;               ///< a range where no sensor covers the CPU
  std::vector<std::string> servers{};  ///< machines to follow instead of this one
  std::string token_file{};            ///< for their daemons; empty: none
  std::string ca_file{};               ///< likewise
  std::string record{};                ///< file to write; empty: none
  std::string replay{};                ///< file to show instead of a machine; empty: none
  double speed = 1.0;                  ///< of the replay
  bool ascii = false;
  std::vector<TopUnit> units{TopUnit{}};  ///< that an energy is shown in
};

int execute(const TopOptions& options);
/// With `once`: one table, or one line of JSON. Returns the exit status of the program.
[[nodiscard]] int top_once(const TopOptions& options);

}  // namespace wattle::app
