// `wattle sensors --measure`: how the sensors of this machine behave, found out by reading them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sampling/update_observer.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {

/// The findings about a channel.
struct MeasuredChannel {
  Channel channel;
  std::optional<Observation> seen{};  ///< absent: the driver did not answer
};

/// Measures each quantity through the first of the interfaces that show it, one device after the
/// other: half a second where nothing can block, up to seven a GPU. A device whose driver
/// does not answer for two seconds is given up. Takes the sensors that may block out of `surveys`:
/// a thread may still be inside of one. `show` is called before each device with a text for the
/// user: "nvidia_gpu_0, about 12 s left".
[[nodiscard]] std::vector<MeasuredChannel> measure(
    std::vector<Survey>& surveys, const std::function<void(std::string_view)>& show = {});

/// Null where it was not measured.
[[nodiscard]] const MeasuredChannel* find(const std::vector<MeasuredChannel>& measured,
                                          const Channel& channel) noexcept;

/// The channel with what was discovered in place of what was assumed.
[[nodiscard]] Channel with_discovered(Channel channel, const MeasuredChannel& measured);

/// Two indented lines.
[[nodiscard]] std::string measured_text(const MeasuredChannel& measured);
[[nodiscard]] nlohmann::ordered_json measured_json(const MeasuredChannel& measured);

}  // namespace wattle::app
