// Why figures are withheld where no column names the GPUs, and which option helps.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text/text.hpp"
#include "run_monitor/rounds/round_choice.hpp"

namespace wattle {

inline constexpr const char* kNoOrder =
    "which GPU a row is of is unknown (no column index or uuid, and the rows follow no order for "
    "long): no figures per GPU, no energy; log with --query-gpu=index,..., or say by "
    "--gpus-in-file N how many there are";
inline constexpr const char* kNoCountOfGpus =
    "which GPU a row is of is unknown (no column index or uuid, and the rows do not show how "
    "many GPUs there are): no figures per GPU, no energy; --gpus-in-file N says it";
inline constexpr const char* kAlike =
    "GPUs that look alike came or left, or the writer was started again: only the total of all "
    "GPUs is known; log with --query-gpu=index,...";
inline constexpr const char* kNoFirst =
    "the times of the rows do not show which GPU is the first: only the total of all GPUs is "
    "known; log with --query-gpu=index,...";
inline constexpr const char* kSwapped =
    "two GPUs seem to have changed places: only the total of all GPUs is known; log with "
    "--query-gpu=index,...";

/// `rows`: how they differ from the expected number of GPUs.
[[nodiscard]] inline std::string doubt_of(const ExpectedGpus& expected, std::string_view rows) {
  return fmt::format("{} {}, and the rows {}: no figures per GPU, no energy; {}",
                     expected.is_given ? "--gpus-in-file says" : "hw_dmon.csv has",
                     counted(expected.count, "GPU"), rows,
                     expected.is_given ? "log with --query-gpu=index,..."
                                       : "--gpus-in-file N says how many there are");
}

}  // namespace wattle
