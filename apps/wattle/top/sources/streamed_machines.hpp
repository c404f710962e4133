// Other machines, from the lines that `wattle stream --json --energy` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "top/observation.hpp"

namespace wattle::app {

/// Keeps the newest line of each machine. Threads: one at a time.
class StreamedMachines {
 public:
  /// False for what is no reading of a machine.
  bool take(std::string_view line);
  /// What is known now. `length` is that since the last call.
  [[nodiscard]] TopObservation observe();

 private:
  struct Machine {
    TopMachine state{};
    std::vector<TopDevice> devices{};
  };

  std::vector<Machine> machines_{};  ///< in the order in which they came
  double time_unix_s_ = 0.0;
  Seconds elapsed_{0};
  Seconds last_{0};
};

}  // namespace wattle::app
