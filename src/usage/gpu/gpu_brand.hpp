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

/// Of `gpus`, read and refused ones: those of `brand` ("nvidia", "amd", "intel"); absent: of one
/// that is there, NVIDIA before AMD before Intel. Integrated GPUs, whose energy `refused` says that
/// the processor counts, are among them only where there are no others.
[[nodiscard]] std::set<Domain> gpus_of_brand(const std::set<Domain>& gpus,
                                             const std::vector<SensorRefusal>& refused,
                                             const std::optional<std::string>& brand);

/// Of `gpus`: those of `example`'s vendor that are, as it is, inside of a processor or are not.
[[nodiscard]] std::set<Domain> gpus_like(const Domain& example, const std::set<Domain>& gpus,
                                         const std::vector<SensorRefusal>& refused);

}  // namespace wattle
