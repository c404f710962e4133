// The commands of a benchmark that differ by a parameter, and the table of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runs/bench/bench_record.hpp"
#include "runs/run_cost.hpp"

namespace wattle {

/// The commands that have parameters and runs. Valid as long as the record.
struct Scan {
  Cost cost =
      Cost::energy;  ///< that they are compared by: the time where the energy of one is unknown
  std::vector<const BenchCommand*> commands;
};
[[nodiscard]] Scan scan_of(const BenchRecord& bench);

/// Null where the command has no such parameter.
[[nodiscard]] const std::string* parameter_of(const BenchCommand& command, const std::string& name);

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
