// `wattle sensors`.
#pragma once

#include "wattle/system.hpp"

namespace wattle::app {

struct SensorsOptions {
  System system;
  bool json = false;
  bool cross_check = false;
  bool measure = false;
};

int execute(const SensorsOptions& options);

}  // namespace wattle::app
