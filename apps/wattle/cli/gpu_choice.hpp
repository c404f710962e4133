// --gpus: which GPUs are measured.
#pragma once

#include <string>

#include "sensors/sensor.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// The source of refusals of GPUs that were left out.
inline constexpr const char* kGpuChoice = "--gpus";

/// As `GpuSelection::parse`.
[[nodiscard]] GpuSelection parse_gpus(const std::string& text);

/// Leaves the chosen GPUs in `found`, and says of the others that they were left out. Throws
/// `InvalidArgument` where `selected_gpus` throws.
void keep_chosen(const GpuSelection& gpus, Survey& found);

}  // namespace wattle::app
