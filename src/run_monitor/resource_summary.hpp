// Summaries of a run monitor's files: of all files in a folder, and as text for a terminal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/text_style.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// Gets how many bytes of all files were read, after each MiB.
using SummaryProgress = std::function<void(std::uint64_t bytes)>;

/// As `build_resource_summary` of the files that a monitor writes into `folder`; those that are not
/// there have a problem.
[[nodiscard]] ResourceSummary summary_of_folder(const std::filesystem::path& folder,
                                                const SummaryProgress& progress);

/// The sum of the mean powers of all GPUs, in W; absent where one of them is not known.
[[nodiscard]] std::optional<double> total_mean_power(const ResourceSummary& summary);

/// `ResourceSummary::to_text`, for a terminal.
[[nodiscard]] std::string summary_text(const ResourceSummary& summary, const TextStyle& style);

}  // namespace wattle
