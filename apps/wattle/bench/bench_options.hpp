// The command line of `wattle bench`.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/bench_plan.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

/// What the options are read into before they are checked.
struct RawBenchOptions {
  BenchOptions bench;
  std::string warmup = "0";
  std::string runs;
  std::string min_runs;
  std::string max_runs;
  std::string time_limit;
  std::string pause = "0";
  std::string interval = "0.1";
  std::string seed;
  std::string step_size;
  std::string ignored;
  bool no_shell = false;
  bool shows_output = false;
  RawSaveOptions save;
  std::vector<std::pair<std::string, std::string>> lists;
  std::vector<std::tuple<std::string, std::string, std::string>> scans;
};

/// `raw` outlives the parsing.
CLI::App* add_bench(CLI::App& app, RawBenchOptions& raw);
/// Where results go; those that are not asked for are empty.
[[nodiscard]] std::array<std::string, 6> result_paths(const BenchOptions& options);
/// Throws `InvalidArgument`.
[[nodiscard]] BenchOptions checked_bench(const RawBenchOptions& raw, const System& system);

}  // namespace wattle::app
