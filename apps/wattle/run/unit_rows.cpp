#include "run/unit_rows.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "base/text/text.hpp"
#include "output/energy_words.hpp"
#include "wattle/clock.hpp"

namespace wattle::app {
namespace {

constexpr std::string_view kUnitHeader =
    "tag,id,start_unix_s,time_s,weight,work,energy_j,uncertainty_j,unknown_s,flags\n";

}  // namespace

std::string unit_row(const UnitEnergy& unit, const std::string& id) {
  const MeasuredEnergy& energy = unit.energy;
  std::string row = csv_cell(printable(unit.tag, std::string::npos)) + "," +
                    csv_cell(printable(id, std::string::npos));
  row += fmt::format(",{:.6f},{:.6f},{},{},", to_unix(unit.begin),
                     Seconds(unit.end - unit.begin).count(), unit.weight, unit.work);
  if (energy.energy) {
    row += fmt::format("{:.6g},{:.2g}", energy.energy->si(), energy.uncertainty.si());
  } else {
    row += ",";
  }
  return row + fmt::format(",{:.6f},{}\n", energy.unknown.count(), flags_text(energy.flags, " "));
}

UnitRows::UnitRows(const std::string& path, bool append) : file_(path, kUnitHeader, append) {}

void UnitRows::add(const UnitEnergy& unit, const std::string& id) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 16U;
  if (file_.has_failed()) return;
  rows_ += unit_row(unit, id);
  if (rows_.size() >= kMostAtOnce) write();
}

void UnitRows::write() {
  file_.add(rows_);
  rows_.clear();
}

}  // namespace wattle::app
