// `wattle sensors --measure`: how the sensors of this machine behave, found out by reading them.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sampling/gauges/step_response.hpp"
#include "sampling/update_observer.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {

/// The findings about a channel.
struct MeasuredChannel {
  Channel channel;
  std::optional<Observation> seen{};          ///< absent: the driver did not answer
  std::optional<GaugeWindowAnswer> window{};  ///< of a gauge that was watched for it
  std::optional<CounterFeed> feed{};          ///< of a counter that was watched for it
};

/// Measures each quantity through the first of the interfaces that show it, one device after the
/// other: half a second where nothing can block, up to seven a GPU. A device whose driver
/// does not answer for two seconds is given up. Takes the sensors that may block out of `surveys`:
/// a thread may still be inside of one. `show` is called before each device with a text for the
/// user: "nvidia_gpu_0, about 12 s left". `watched`: for how long gauges of GPUs whose window is
/// not known are watched beside their counter (`find_window`), and counters beside gauges that rest
/// (`watch_feed`); 0: not at all.
[[nodiscard]] std::vector<MeasuredChannel> measure(
    std::vector<Survey>& surveys, std::chrono::nanoseconds watched,
    const std::function<void(std::string_view)>& show = {});

/// Null where it was not measured.
[[nodiscard]] const MeasuredChannel* find(const std::vector<MeasuredChannel>& measured,
                                          const Channel& channel) noexcept;

/// The channel with what was discovered in place of what was assumed.
[[nodiscard]] Channel with_discovered(Channel channel, const MeasuredChannel& measured);

/// As they are kept: a window that may be all of the time is taken for that.
[[nodiscard]] UpdateInterval update_of(const GaugeWindowFound& found) noexcept;
[[nodiscard]] std::chrono::nanoseconds window_of(const GaugeWindowFound& found) noexcept;

/// Two indented lines, and a third one of what was watched.
[[nodiscard]] std::string measured_text(const MeasuredChannel& measured);
[[nodiscard]] nlohmann::ordered_json measured_json(const MeasuredChannel& measured);
[[nodiscard]] nlohmann::ordered_json window_json(const GaugeWindowAnswer& answer);

}  // namespace wattle::app
