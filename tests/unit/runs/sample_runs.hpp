// Records of runs for tests of the history.
#pragma once

#include <string>
#include <vector>

#include "runs/history/history.hpp"

namespace wattle {

struct RecordFacts {
  std::vector<std::string> command = {"make", "-j8"};
  std::string host = "n1";
  double started_unix_s = 1'763'690'000.0;
  double energy_j = 100.0;  ///< below 0: unknown
  double unknown_s = 0.0;   ///< of the time of the energy
  int code = 0;
};
/// As `wattle run --json` writes it.
[[nodiscard]] std::string run_record(const RecordFacts& facts = {});
[[nodiscard]] SavedRun saved_run(const RecordFacts& facts = {}, const Tags& tags = {});

}  // namespace wattle
