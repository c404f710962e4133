// Who uses a GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sensors/nvml/api.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

/// The processes with a compute or a graphics context on the GPU, each once, by number. Absent
/// where the driver does not report (rights, another PID namespace than it knows, no such
/// function). May take milliseconds.
[[nodiscard]] std::optional<std::vector<DeviceProcess>> list_processes(const Api& api,
                                                                       Handle handle);

/// Bytes of one record, by how far a driver wrote into a buffer that was filled with `kUntouched`
/// before: the symbols of one version stand for records of 16, 24 or 32 bytes, depending on the
/// driver (github.com/XuehaiPan/nvitop/pull/79). 0 where no size explains it.
[[nodiscard]] std::size_t record_size(std::span<const std::byte> buffer,
                                      std::size_t count) noexcept;
inline constexpr std::byte kUntouched{0xA5};

}  // namespace wattle::nvml
