// A report of many runs in words: the same in a terminal and in a browser.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runs/job_report.hpp"

namespace wattle {

/// "job 77: 4 nodes, 16 ranks, 1.840 MJ ±0.020 MJ".
[[nodiscard]] std::string headline_of(const JobReport& report);
/// Sentences: parts that the energy lacks, missing ranks, and what was left out.
[[nodiscard]] std::vector<std::string> remarks_on(const JobReport& report);
/// "node" of a job, else "machine".
[[nodiscard]] const char* node_word(const JobReport& report) noexcept;
/// The titles of the columns of `node_cells` after the name.
inline constexpr std::array<const char*, 5> kNodeTitles = {"runs", "measured", "energy ± (k=2)",
                                                           "mean", "includes"};
[[nodiscard]] std::vector<std::string> node_cells(const NodeReport& node);
/// The titles of the columns of `unit_cells`. The first is text, the others are numbers.
inline constexpr std::array<const char*, 5> kUnitTitles = {
    "units of work", "units", "energy (95 %)", "mean (95 %)", "per work (95 %)"};
[[nodiscard]] std::vector<std::string> unit_cells(const ReportedUnits& units);
/// More rows are in the JSON alone.
inline constexpr std::size_t kMostUnitRows = 200;

/// The meaning of ±.
[[nodiscard]] std::string uncertainty_note(const JobReport& report);
/// Time, CPU time and memory: name and text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(const JobReport& report);

}  // namespace wattle
