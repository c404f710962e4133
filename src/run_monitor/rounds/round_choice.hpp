// The number of GPUs that explains rows best.
#pragma once

#include <cstddef>
#include <optional>

#include "run_monitor/rounds/round_model.hpp"
#include "run_monitor/rounds/round_path.hpp"

namespace wattle {

/// How many GPUs there are at most, and at first, as something else than the rows shows it.
struct ExpectedGpus {
  std::size_t count = 1;
  /// A person says it: it holds unless the rows do not fit it. Else it is of another file, and
  /// counts where the rows leave doubt.
  bool is_given = true;
};

struct RoundChoice {
  std::size_t gpus = 1;
  RoundModel model;
  RoundPath path;  ///< without margins
  double cost = 0.0;
  /// No other number of GPUs does nearly as well, and few rows are irregular.
  bool is_clear = false;
};

/// Among the numbers up to `most`; absent: all that are guessed.
[[nodiscard]] RoundChoice choose_gpus(Traces rows, std::optional<std::size_t> most);

/// The expected number, unless the rows are clearly of another one.
[[nodiscard]] RoundChoice choose_gpus(Traces rows, const ExpectedGpus& expected);

}  // namespace wattle
