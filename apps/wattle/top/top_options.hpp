// The command line of `wattle top`.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

/// What the options are read into before they are checked.
struct RawTopOptions {
  std::string length = "1";
  std::string period = "1";
  std::string key = "command";
  std::string record;
  std::string replay;
  std::string speed = "1";
  std::string price;
  std::string carbon;
  std::vector<std::string> servers;
  std::string token_file;
  std::string ca_file;
  bool once = false;
  bool json = false;
  bool ascii = false;
  bool estimate = false;
};

/// `raw` outlives the parsing.
CLI::App* add_top(CLI::App& app, RawTopOptions& raw);
/// Throws `InvalidArgument`.
[[nodiscard]] TopOptions checked_top(const RawTopOptions& raw, const System& system);

}  // namespace wattle::app
