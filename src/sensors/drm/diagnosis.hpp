// Why a GPU, or a value of it, is not read: cause, proof, remedy.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sensors/drm/card.hpp"
#include "sensors/sensor.hpp"

namespace wattle::drm {

/// There is no GPU that Wattle could read; `others` are what there is.
[[nodiscard]] SensorRefusal no_gpus(const System& system, const std::vector<Card>& others);
/// /sys/class/drm cannot be listed: `error` is the `errno`. `in_part`: some GPUs were listed
/// before.
[[nodiscard]] SensorRefusal unlisted(const System& system, int error, bool in_part);
/// It cannot be read what a card is.
[[nodiscard]] SensorRefusal unknown_card(const Card& card);
/// An AMD or Intel device whose driver reports nothing.
[[nodiscard]] SensorRefusal unknown_driver(const Card& card);
/// A GPU inside a processor, whose energy is part of the package's: nothing is amiss.
[[nodiscard]] SensorRefusal inside_processor(const GpuCard& card);
/// `hwmon`: where its sensors are; empty where it has none.
[[nodiscard]] SensorRefusal no_power_sensor(const GpuCard& card,
                                            const std::filesystem::path& hwmon);
/// A file that cannot be opened or read; `error`: the `errno`, 0 where it holds no value. `what`:
/// the quantity, empty for all that the GPU's energy could be computed from.
[[nodiscard]] SensorRefusal unreadable(const GpuCard& card, std::string_view what,
                                       const std::string& path, int error);
/// A read is still out.
[[nodiscard]] SensorRefusal no_answer(const GpuCard& card, std::chrono::nanoseconds deadline);

}  // namespace wattle::drm
