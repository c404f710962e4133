// Whether runs are saved in the history, as the command line says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runs/history/history.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

struct SaveOptions {
  std::optional<bool> save{};  ///< absent: as the settings say
  Tags tags{};                 ///< of the saved runs
};

/// The options before they are checked.
struct RawSaveOptions {
  bool save = false;
  bool no_save = false;
  std::vector<std::string> tags;
};

/// Adds --save, --no-save and --tag. `what` is saved: "the run". `raw` outlives the parsing.
void add_save(CLI::App& command, RawSaveOptions& raw, const std::string& what);
/// A tag asks for saving, too. Throws `InvalidArgument`.
[[nodiscard]] SaveOptions checked_save(const RawSaveOptions& raw);

}  // namespace wattle::app
