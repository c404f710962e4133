// `wattle mark`.
#pragma once

#include "base/marks.hpp"

namespace wattle::app {

struct MarkOptions {
  Mark mark{};
  bool quiet = false;
};

int execute(const MarkOptions& options);

}  // namespace wattle::app
