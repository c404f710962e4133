// The command line of `wattle calibrate`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration.hpp"

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

int execute(const CalibrateOptions& options);

}  // namespace wattle::app
