// Which GPUs the five groups are about: those of one brand, as gpu_tracker has it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle {

/// Every GPU that was found, those that were refused included.
[[nodiscard]] std::set<Domain> gpus_found(const Survey& found);

/// The GPUs of `brand` ("nvidia", "amd", "intel"), readable or refused. Default: the first brand
/// present: NVIDIA, AMD, Intel. Integrated GPUs, whose energy the processor counts, are left out if
/// there are others.
[[nodiscard]] std::set<Domain> gpus_of_brand(const std::set<Domain>& gpus,
                                             const std::vector<SensorRefusal>& refused,
                                             const std::optional<std::string>& brand);

/// The GPUs of `example`'s vendor that are integrated into a processor, or not, as it is.
[[nodiscard]] std::set<Domain> gpus_like(const Domain& example, const std::set<Domain>& gpus,
                                         const std::vector<SensorRefusal>& refused);

}  // namespace wattle
