#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "markup.hpp"
#include "report/html/figure.hpp"

namespace wattle::html {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::count_of;

PowerPlot plot_of(std::vector<PowerColumn> columns, Seconds column = Seconds(1.0)) {
  const Seconds length = static_cast<double>(columns.size()) * column;
  return {.name = "package_0",
          .columns = std::move(columns),
          .length = length,
          .column = column,
          .scale = {},
          .stripes = {},
          .summary = "What it shows."};
}

// 10 W at the top are 5 marks of 2 W with 200 steps each: a step is 10 mW.
TEST(PlotOfPower, DrawsStepsInItsOwnUnits) {
  const std::string svg =
      figure_of(plot_of({{.mean = Watts(10.0)}, {.mean = Watts(10.0)}, {.mean = Watts(2.5)}}), "p");
  EXPECT_THAT(svg, HasSubstr("data-steps=\"1000\" data-step-watts=\"0.01\""));
  EXPECT_THAT(svg, HasSubstr("<path class=\"mean\" d=\"M0 0h2v750h1\"/>"));
}

TEST(PlotOfPower, LeavesAGapWherePowerIsUnknown) {
  const std::string svg = figure_of(
      plot_of({{.mean = Watts(10.0)}, {}, {}, {.mean = Watts(10.0)}, {.mean = Watts(0.0)}}), "p");
  EXPECT_THAT(svg, HasSubstr("<path class=\"mean\" d=\"M0 0h1M3 0h1v1000h1\"/>"));
  EXPECT_THAT(svg, HasSubstr("<td>-</td><td>-</td><td>-</td>"));
}

TEST(PlotOfPower, SpansTheLowestToTheHighest) {
  const PowerColumn column{
      .mean = Watts(5.0), .uncertainty = {}, .lowest = Watts(1.0), .highest = Watts(10.0)};
  const std::string svg = figure_of(plot_of({column, {}, column}), "p");
  EXPECT_THAT(svg, HasSubstr("<path class=\"range\" d=\"M0.5 0v900m2-900v900\"/>"));
}

TEST(PlotOfPower, ShowsWhatIsUncertain) {
  const PowerColumn sure{.mean = Watts(10.0), .uncertainty = Watts(0.001)};
  const PowerColumn unsure{.mean = Watts(10.0), .uncertainty = Watts(0.5)};
  EXPECT_THAT(figure_of(plot_of({sure, sure}), "p"), Not(HasSubstr("class=\"doubt\"")));
  EXPECT_THAT(figure_of(plot_of({sure, unsure}), "p"),
              HasSubstr("<path class=\"doubt\" d=\"M0.5 0v0m1-50v100\"/>"));
}

TEST(PlotOfPower, SaysHowUncertainItIsWhereABandWouldCoverIt) {
  const PowerColumn unsure{.mean = Watts(10.0), .uncertainty = Watts(30.0)};
  const std::string svg = figure_of(plot_of({unsure, unsure}, Seconds(0.1)), "p");
  EXPECT_THAT(svg, Not(HasSubstr("class=\"doubt\"")));
  EXPECT_THAT(svg,
              HasSubstr("What it shows. The ± of 0.100 s is 30.00 W on average: its band would "
                        "cover the plot, and is not drawn.</p>"));
  EXPECT_THAT(svg, HasSubstr("data-steps=\"1000\" data-step-watts=\"0.01\"")) << "as measured";
}

TEST(PlotOfPower, OfNothingKnownIsASentence) {
  const std::string svg = figure_of(plot_of({{}, {}}), "p");
  EXPECT_THAT(svg, Not(HasSubstr("<svg")));
  EXPECT_THAT(svg, HasSubstr("What it shows."));
}

TEST(PlotOfPower, OfNoPowerHasAScale) {
  EXPECT_THAT(figure_of(plot_of({{.mean = Watts(0.0)}}), "p"), HasSubstr(">1 W</text>"));
}

TEST(PlotOfPower, HasItsValuesInAFewRows) {
  std::vector<PowerColumn> columns(1000);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i] = {
        .mean = Watts(100.0), .lowest = Watts(50.0), .highest = Watts(i == 999 ? 900.0 : 150.0)};
  }
  const std::string svg = figure_of(plot_of(columns), "p");
  EXPECT_EQ(count_of(svg, "<th scope=\"row\">"), 12U);
  EXPECT_EQ(count_of(svg, ">900.0 W</td>"), 1U);
}

TEST(PlotOfPower, DrawsPhasesAsStripes) {
  PowerPlot plot = plot_of({{.mean = Watts(1.0)}, {.mean = Watts(1.0)}}, Seconds(5.0));
  plot.stripes = {{"load & go", Seconds(2.5), Seconds(10.0)}};
  const std::string svg = figure_of(plot, "p");
  EXPECT_THAT(svg,
              HasSubstr("data-name=\"load &amp; go\" data-from=\"2.5\" data-to=\"10\" x=\"0.5\" "
                        "y=\"0\" width=\"1.5\""));
  EXPECT_THAT(svg, HasSubstr("class=\"phase-name\""));
}

TEST(TimeLabel, IsAsLongAsItMustBe) {
  EXPECT_EQ(time_label(Seconds(0.25), Seconds(0.05), Seconds(2.0)), "0.25 s");
  EXPECT_EQ(time_label(Seconds(12.0), Seconds(1.0), Seconds(30.0)), "12 s");
  EXPECT_EQ(time_label(Seconds(185.0), Seconds(5.0), Seconds(600.0)), "3:05");
  EXPECT_EQ(time_label(Seconds(3750.0), Seconds(30.0), Seconds(4000.0)), "1:02:30");
  EXPECT_EQ(time_label(Seconds(119.96), Seconds(0.1), Seconds(600.0)), "2:00.0")
      << "no 60th second";
}

}  // namespace
}  // namespace wattle::html
