// Other machines, from the lines that `wattle stream --json --energy` prints.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "top/observation.hpp"

namespace wattle::app {

/// Keeps the newest line of each machine. Threads: one at a time.
class StreamedMachines {
 public:
  /// `servers`: how many are followed.
  explicit StreamedMachines(std::size_t servers) noexcept : lines_in_period_(servers) {}

  /// True for the last line of a period: then all machines have one. What is no reading of a
  /// machine is ignored.
  bool take(std::string_view line);
  /// The present values. `length` is the time since the last call.
  [[nodiscard]] TopObservation observe();

 private:
  struct Machine {
    TopMachine state{};
    std::vector<TopDevice> devices{};
  };

  [[nodiscard]] bool count_line(Seconds elapsed);

  std::size_t lines_in_period_;
  std::size_t lines_ = 0;            ///< of this period
  std::vector<Machine> machines_{};  ///< in the order in which they came
  double time_unix_s_ = 0.0;
  Seconds elapsed_{0};
  Seconds last_{0};
};

}  // namespace wattle::app
