// The command line of `wattle compare`.
#pragma once

#include <optional>
#include <string>

#include "runs/ignored_failures.hpp"
#include "runs/run_cost.hpp"

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

int execute(const CompareOptions& options);

}  // namespace wattle::app
