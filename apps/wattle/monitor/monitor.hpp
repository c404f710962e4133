// `wattle monitor`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "wattle/system.hpp"

namespace wattle::app {

struct MonitorOptions {
  System system;
  std::string folder;
  std::vector<std::string> command;  ///< empty: until a signal comes
  std::chrono::nanoseconds interval{0};
  std::string gpus = "all";  ///< see `parse_gpus`
  bool overwrite = false;
  bool quiet = false;
};

/// With a command as `wattle run`: may end the process itself.
int execute(const MonitorOptions& options);

}  // namespace wattle::app
