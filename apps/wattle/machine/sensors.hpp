// `wattle sensors`.
#pragma once

#include <chrono>

#include "wattle/system.hpp"

namespace wattle::app {

struct SensorsOptions {
  System system;
  bool json = false;
  bool cross_check = false;
  bool measure = false;
  std::chrono::nanoseconds watched{0};  ///< gauges beside their counter; 0: not at all
};

int execute(const SensorsOptions& options);

}  // namespace wattle::app
