// The command line of `wattle compare`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runs/ignored_failures.hpp"
#include "runs/run_cost.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

struct CompareOptions {
  std::string a{};  ///< a file, an ID, or a query
  std::string b{};
  std::optional<double> fail_above{};  ///< a part: 0.05
  Cost cost = Cost::energy;            ///< what `fail_above` is about
  IgnoredFailures ignored{};           ///< failed runs that `fail_above` takes all the same
  bool force = false;
  bool json = false;
  std::string html_path{};  ///< empty: none; "-": stdout, in place of the text
};

/// What the options are read into before they are checked.
struct RawCompareOptions {
  CompareOptions compare;
  std::vector<std::string> sources;
  std::string fail_above;
  std::string quantity = "energy";
  std::string ignored;
};

/// `raw` outlives the parsing.
void add_compare(CLI::App& app, RawCompareOptions& raw);
/// Throws `InvalidArgument`.
[[nodiscard]] CompareOptions checked_compare(const RawCompareOptions& raw);

}  // namespace wattle::app
