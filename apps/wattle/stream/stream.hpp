// `wattle stream`: a program of its own, beside this one.
#pragma once

#include <string>
#include <vector>

namespace wattle::app {

/// The program's environment variables and options.
struct StreamWords {
  std::vector<std::string> words;
};

/// Becomes the program wattle-stream; returns if that fails.
int execute(const StreamWords& options);

}  // namespace wattle::app
