// The command line of `wattle calibrate`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

struct CalibrateOptions {
  std::vector<std::string> series{};  ///< files of `wattle run --series`
  std::string meter{};                ///< a file; "-": stdin
  std::string column{};               ///< empty: the file shows it
  std::string unit{};                 ///< the same
  std::optional<double> shift_s{};    ///< the meter's clock minus that of the run, about
  SupplyEfficiency efficiency{};
  bool keeps = true;
  bool json = false;
};

/// What the options are read into before they are checked.
struct RawCalibrateOptions {
  CalibrateOptions calibrate;
  std::string shift;
  std::string efficiency;
  bool is_not_kept = false;
};

/// `raw` outlives the parsing.
void add_calibrate(CLI::App& app, RawCalibrateOptions& raw);
/// Throws `InvalidArgument`.
[[nodiscard]] CalibrateOptions checked_calibrate(const RawCalibrateOptions& raw);

}  // namespace wattle::app
