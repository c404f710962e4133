// --gpus: which GPUs are measured.
#pragma once

#include <string>
#include <vector>

#include "job.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {

/// The source of refusals of GPUs that were left out.
inline constexpr const char* kGpuChoice = "--gpus";

struct GpuChoice {
  bool all = true;
  std::vector<std::string> names{};  ///< where not all: none of them means no GPU

  [[nodiscard]] bool none() const noexcept { return !all && names.empty(); }
};

/// "all", "none", "visible" (what CUDA_VISIBLE_DEVICES leaves to a CUDA program), or a list of
/// numbers, domains, UUIDs, beginnings of UUIDs and PCI addresses with commas between. A number is
/// that of a domain, whoever made the GPU. Throws `InvalidArgument`.
[[nodiscard]] GpuChoice parse_gpu_choice(const std::string& text, const Environment& environment);

/// Leaves the chosen GPUs in `found`, and says of the others that they were left out. Throws
/// `InvalidArgument` for a name that no GPU has, or several have.
void keep_chosen(const GpuChoice& choice, Survey& found);

}  // namespace wattle::app
