// The calibration of a machine that was kept.
#include "calibration/kept_calibration.hpp"
#include "check.hpp"

FUZZ_TARGET(calibration)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const auto kept = parse_calibration(fuzz::text_of(data, size));
  if (!kept) return 0;
  const auto again = parse_calibration(to_json(*kept));
  fuzz::require(again && again->sensors == kept->sensors, "what is written can be read");
  fuzz::require(!source_text(*kept).empty(), "there is a source");
  return 0;
}
