// Everything that one run of the lab found, and how it stands to what was promised.
#pragma once

#include <string>
#include <vector>

#include "lab/cell.hpp"

namespace wattle::lab {

struct Entry {
  Cell cell;
  CellResult result;
};

struct Results {
  TrialOptions options;
  std::vector<Entry> cells;
};

/// A promise, held against the results.
struct Verdict {
  std::string target;
  bool is_met = false;
  std::string value;  ///< what was found; says so where nothing was
};

[[nodiscard]] std::vector<Verdict> judge(const Results& results);

}  // namespace wattle::lab
