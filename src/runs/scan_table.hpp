// The commands of a benchmark that differ by a parameter, as one table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runs/bench_record.hpp"

namespace wattle {

/// Ordered by the cost, the least first. Threads: a value type.
struct ScanTable {
  std::string ordered_by;           ///< "energy", or "time" where the energy of one is unknown
  std::vector<std::string> titles;  ///< of the columns: the parameters first
  std::size_t parameters = 0;       ///< how many columns are parameters
  std::vector<std::vector<std::string>> rows;
};

/// Absent unless at least two commands have parameters and runs.
[[nodiscard]] std::optional<ScanTable> scan_table(const BenchRecord& bench);

}  // namespace wattle
