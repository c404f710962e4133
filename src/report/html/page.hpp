// A page for a browser as a value: what it shows, as plain text. Renderers of results build one;
// `to_html` draws it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sampling/power_course.hpp"

namespace wattle::html {

struct Heading {
  std::string text;
};

struct Paragraph {
  std::string text;
};

/// A remark on how to read its surroundings; smaller than a paragraph.
struct Note {
  std::string text;
};

/// Sentences, one below the other.
struct Lines {
  struct Line {
    std::string text;
    bool is_strong = false;
  };
  std::vector<Line> lines;
};

/// Estimates and shares: set apart from what was measured.
struct Estimates {
  std::vector<std::string> lines;
};

/// Names and what they are.
struct Facts {
  std::string caption;  ///< what they are about, for who cannot see where they stand
  std::vector<std::pair<std::string, std::string>> rows;
};

struct Table {
  std::string caption;
  struct Column {
    std::string title;
    bool is_number = false;
  };
  std::vector<Column> columns;
  /// The first cell names its row. Cells that a row lacks are empty.
  std::vector<std::vector<std::string>> rows{};
  bool is_folded = false;  ///< the reader opens it: what few ask for
};

/// A part of the time of a plot, with a name.
struct Stripe {
  std::string name;
  Seconds from{0};
  Seconds to{0};
};

/// Power over time. Where no column is known it is not drawn, and `summary` says so.
struct PowerPlot {
  std::string name;
  std::vector<PowerColumn> columns;
  Seconds length{0};
  Seconds column{0};
  Watts scale;  ///< what fits into it at least: plots that are compared have the same
  std::vector<Stripe> stripes{};
  std::string summary;  ///< what it shows, in a sentence or two
};

/// Values of several things on one axis.
struct DotPlot {
  struct DotRow {
    std::string name;
    std::string text;            ///< what the row shows, in figures
    std::vector<double> dots{};  ///< drawn from top to bottom
    std::size_t runs = 0;        ///< that the dots are of: more than there are dots, if thinned out
    std::optional<double> mark{};
    std::optional<std::pair<double, double>> interval{};
  };
  std::string name;
  std::string unit;  ///< of all values
  std::vector<DotRow> rows{};
  std::optional<double> line{};  ///< that rows are compared with
  std::string summary{};         ///< what it shows, in a sentence or two
};

/// A quantity over another one.
struct CurvePlot {
  struct Point {
    double x = 0.0;
    double y = 0.0;  ///< not negative
    std::optional<double> deviation{};
  };
  struct Curve {
    std::string name;  ///< empty: there is only one
    std::vector<Point> points;
  };
  std::string name;
  std::string x_name;
  std::string unit{};  ///< of y
  std::vector<Curve> curves{};
  std::string summary{};  ///< what it shows, in a sentence or two
};

/// Plots beside and below each other. Those of power show the same time.
struct Plots {
  std::vector<std::variant<PowerPlot, DotPlot, CurvePlot>> plots;
};

using Block = std::variant<Heading, Paragraph, Note, Lines, Estimates, Facts, Table, Plots>;

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<Block> blocks{};
  std::string footer;
};

/// The parts of a page besides its content.
struct Assets {
  std::string_view style;         ///< of every page
  std::string_view script;        ///< empty: pages stay as they are drawn
  std::string_view script_style;  ///< of what the script draws
};

/// As the program was built.
[[nodiscard]] Assets built_in_assets() noexcept;

/// One file that asks for nothing from anywhere: style and script are in it, and its
/// Content-Security-Policy allows these alone. Complete without the script.
[[nodiscard]] std::string to_html(const Page& page, const Assets& assets = built_in_assets());

}  // namespace wattle::html
