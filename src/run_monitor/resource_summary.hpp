// Summaries of a run monitor's files: of all files in a folder, and as text for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/text/text_style.hpp"
#include "run_monitor/tables/table_file.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// As `build_resource_summary` of the files that a monitor writes into `folder`; those that are not
/// there have a problem.
[[nodiscard]] ResourceSummary summary_of_folder(const std::filesystem::path& folder,
                                                const SummaryProgress& progress,
                                                std::optional<std::size_t> gpus_in_file = {});

/// As `build_resource_summary` of one file, whatever it is called: its first lines show its kind.
[[nodiscard]] ResourceSummary summary_of_file(const std::filesystem::path& path,
                                              const SummaryProgress& progress,
                                              std::optional<std::size_t> gpus_in_file = {});

/// True if there is any figure.
[[nodiscard]] bool has_figures(const ResourceSummary& summary) noexcept;

/// The sum of the mean powers of all GPUs, in W; absent where one of them is not known.
[[nodiscard]] std::optional<double> total_mean_power(const ResourceSummary& summary);

/// `ResourceSummary::to_text`, for a terminal.
[[nodiscard]] std::string summary_text(const ResourceSummary& summary, const TextStyle& style);

}  // namespace wattle
