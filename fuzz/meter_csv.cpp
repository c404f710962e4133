// Logs of external meters.
#include <cmath>

#include "base/text/split.hpp"
#include "calibration/meter_table.hpp"
#include "check.hpp"

FUZZ_TARGET(meter_csv)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  MeterTable table;
  std::size_t lines = 0;
  while (!text.empty()) {
    table.take(take_line(text));
    ++lines;
  }
  fuzz::require(table.rows() + table.bad_rows() <= lines, "a line is one row at most");
  fuzz::require(table.samples().size() == table.rows(), "each good row is a sample");
  for (const MeterSample& sample : table.samples()) {
    fuzz::require(std::isfinite(sample.time_s), "times are finite");
    fuzz::require(std::isfinite(sample.power_w) && sample.power_w >= 0.0, "powers are from 0 on");
  }
  return 0;
}
