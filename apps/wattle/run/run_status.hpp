// `wattle run --status`: lines about a command that still runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/numbers/known_sum.hpp"
#include "usage/tree/tree_state.hpp"
#include "wattle/clock.hpp"
#include "wattle/units.hpp"

namespace wattle::app {

/// Collects what intervals show until a line is due. Threads: one at a time.
class RunStatus {
 public:
  /// `period`: between two lines, above 0.
  RunStatus(std::chrono::nanoseconds period, TimePoint begin);

  /// At the end of each interval; intervals are equally long. `power`: mean over it, absent where
  /// it is unknown. `tree`: the command's processes, null where they cannot be read. Returns a line
  /// without its end where one is due: "12.00 s: 175.0 W, 6.88 CPU cores in use, 345.7 MB memory".
  /// Power and CPU are means since the line before.
  [[nodiscard]] std::optional<std::string> add(TimePoint now, std::optional<Watts> power,
                                               const TreeState* tree);

 private:
  [[nodiscard]] std::string line(TimePoint now, const TreeState* tree) const;

  std::chrono::nanoseconds period_;
  TimePoint begin_;
  TimePoint next_;
  TimePoint last_;
  std::chrono::nanoseconds last_cpu_{0};
  KnownSum<Watts> sum_;  ///< of the intervals' means
  int intervals_ = 0;
};

}  // namespace wattle::app
