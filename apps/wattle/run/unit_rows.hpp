// --units: one row per unit of work, as a table of comma-separated values.
#pragma once

#include <string>

#include "run/csv_file.hpp"
#include "wattle/work_units.hpp"

namespace wattle::app {

/// A unit with the ID that its marks gave it, as a row with its line end. What is unknown is an
/// empty cell.
[[nodiscard]] std::string unit_row(const UnitEnergy& unit, const std::string& id);

/// Threads: one at a time.
class UnitRows {
 public:
  /// See `CsvFile`.
  UnitRows(const std::string& path, bool append);

  /// A unit whose energy is final.
  void add(const UnitEnergy& unit, const std::string& id);
  /// Writes what was added.
  void write();

  /// Why a row could not be written; empty where all were.
  [[nodiscard]] std::string failure() const { return file_.failure(); }

 private:
  CsvFile file_;
  std::string rows_;  ///< that are not written yet
};

}  // namespace wattle::app
