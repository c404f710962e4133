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

/// `survey_chosen`, with refusals that say which GPUs were left out. Throws `InvalidArgument` where
/// `survey_chosen` throws.
[[nodiscard]] Survey survey_gpus(const System& system, DomainKinds kinds, const GpuSelection& gpus);

}  // namespace wattle::app
