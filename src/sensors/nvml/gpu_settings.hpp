// Reads and changes the settings of a GPU.
#pragma once

#include <optional>

#include "sensors/nvml/api.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

[[nodiscard]] DeviceSettings read_settings(const Api& api, Handle handle) noexcept;

/// The value is none that the GPU takes; the range is asked of the driver, if it knows one.
[[nodiscard]] std::optional<SettingFailure> out_of_range(const Api& api, Handle handle,
                                                         const DeviceSetting& setting);

/// Makes the setting, whatever its value. The driver rounds clocks to those that the GPU has.
[[nodiscard]] std::optional<SettingFailure> change(const Api& api, Handle handle,
                                                   const DeviceSetting& setting);

}  // namespace wattle::nvml
