// Power over time as plots, for pages of all kinds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/html/page.hpp"
#include "sampling/power_course.hpp"

namespace wattle::html {

/// What a plot shows besides its columns.
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

/// Those that `plots` plots of a page have room for: the longest, in the order of time.
[[nodiscard]] std::vector<Stripe> drawn_stripes(std::vector<Stripe> stripes, std::size_t plots);
/// Says that there are more than are drawn; empty if all are.
[[nodiscard]] std::string stripes_note(std::size_t all, std::size_t drawn);

/// How to read the plots of a course.
[[nodiscard]] std::string legend_of(const PowerCourse& course);

}  // namespace wattle::html
