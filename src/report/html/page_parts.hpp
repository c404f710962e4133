// Texts and plots of power over time that all kinds of pages share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/html/page.hpp"
#include "report/report.hpp"
#include "sampling/power_course.hpp"

namespace wattle::html {

/// "2025-11-21 02:00:02 UTC"; empty for a time that no clock shows.
[[nodiscard]] std::string utc_text(double unix_s);

/// "host n1 · AMD EPYC 7763 · 2025-11-21 02:00:02 UTC": those parts that are not empty.
[[nodiscard]] std::string subtitle_of(const std::vector<std::string>& parts);

/// As `words_of` makes them for a terminal: there those that continue one are indented; on a page
/// the block sets them apart.
[[nodiscard]] Estimates estimates_of(std::vector<std::string> lines);

/// The parts of a plot besides its columns.
struct PlotWords {
  std::string name;
  std::string mean{};     ///< over the whole time, as text; empty: from the columns
  std::string remarks{};  ///< empty: none
};

/// `columns`: of the course. `scale`: see `PowerPlot`.
[[nodiscard]] PowerPlot power_plot(const PowerCourse& course,
                                   const std::vector<PowerColumn>& columns, PlotWords words,
                                   Watts scale);

/// The highest power of a course; absent where nothing is known.
[[nodiscard]] std::optional<Watts> highest_of(const std::vector<PowerColumn>& columns);

/// Stripes for the outermost phases: those within them are in tables only.
[[nodiscard]] std::vector<Stripe> phase_stripes(const PhasesReport& phases);

struct DrawnStripes {
  std::vector<Stripe> stripes;  ///< in the order of time
  std::string note{};           ///< says that there are more; empty if all are drawn
};
/// Those that `plots` plots of a page have room for: the longest.
[[nodiscard]] DrawnStripes drawn_stripes(std::vector<Stripe> stripes, std::size_t plots);

/// How to read the plots of a course.
[[nodiscard]] std::string legend_of(const PowerCourse& course);

}  // namespace wattle::html
