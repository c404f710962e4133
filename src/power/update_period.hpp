// How often to read the power of GPUs, found out by reading it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "power/selection.hpp"

namespace wattle {

/// The updates found by reading one GPU of a model.
struct ModelPace {
  bool gives_power = false;
  /// From one change of its value to the next, median; absent where there were less than four.
  std::optional<std::chrono::nanoseconds> gap{};
  /// How often each channel of its sensor is renewed; not known where that is in doubt.
  std::vector<UpdateInterval> updates{};
};

/// Half the time between two updates of the fastest model, at most 0.1 s: see
/// `infer_update_period`. Says in the log where it was cut to that.
[[nodiscard]] std::chrono::nanoseconds period_for(const std::vector<ModelPace>& models);

/// How long GPUs are read for it, and waited for.
struct PaceSpan {
  std::chrono::nanoseconds length = std::chrono::milliseconds(1200);
  std::chrono::nanoseconds deadline = std::chrono::milliseconds(1500);
};

/// The updates found by reading GPUs.
struct InferredPace {
  std::chrono::nanoseconds period{0};  ///< how often to read them: see `period_for`
  /// How often each channel is renewed, by model.
  std::map<std::string, std::vector<UpdateInterval>> updates{};

  /// The channels of a sensor, with the update intervals that were seen at its model if unknown.
  [[nodiscard]] std::vector<Channel> channels_of(const Sensor& sensor) const;
};

/// Reads the first GPU of each model, all at the same time, each in a thread of its own. One that
/// has not answered by the deadline counts as one without power, and its thread is abandoned:
/// sensors whose driver may block can be read by several threads.
[[nodiscard]] InferredPace infer_pace(const std::vector<Selection::SelectedGpu>& gpus,
                                      const TimeSource& clock, const PaceSpan& span = {});

}  // namespace wattle
