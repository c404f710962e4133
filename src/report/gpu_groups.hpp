// GPUs that a text shows as one.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace wattle {

/// "nvidia_gpu_0-3,6, amd_gpu_0": the names of domains in their order, runs of numbers folded.
[[nodiscard]] std::string names_of(const std::vector<Domain>& domains);

/// GPUs of one model that the command used, or did not use, alike.
using GpuGroup = std::vector<Domain>;

/// All GPUs of a report in groups, in the order of `Domain`. Where all details are wanted, each GPU
/// is a group of its own; so it is with few GPUs, but for those that the command did not use.
[[nodiscard]] std::vector<GpuGroup> gpu_groups(const Report& report, Detail detail);

/// The group of `domain`; null where it is of none.
[[nodiscard]] const GpuGroup* group_of(const std::vector<GpuGroup>& groups, const Domain& domain);

}  // namespace wattle
