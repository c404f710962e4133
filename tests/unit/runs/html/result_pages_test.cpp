// The pages of a benchmark, a comparison and a report of many runs.
#include "runs/html/result_pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "golden.hpp"
#include "markup.hpp"
#include "report/html/figure.hpp"
#include "report/html/page.hpp"
#include "runs/html/cost_plots.hpp"
#include "sample_bench.hpp"

namespace wattle::html {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::count_of;
using testing_support::expect_golden;
using testing_support::markup_fault;

const std::string kHostileName = "</title></style></script><script>alert(1)</script>\"'&\x01\xff";

std::string html_of(const Page& page) { return to_html(page, {}); }

TEST(BenchPage, AsAFile) { expect_golden("bench.html", html_of(page_of(sample_bench(true)))); }

TEST(BenchPage, HasThePlotsOfEachKnownCost) {
  const std::string html = html_of(page_of(sample_bench(true)));
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<path class=\"dots\""), 2 * kCosts.size());
  EXPECT_EQ(count_of(html, "<path class=\"line\""), 3U) << "energy, time and CPU time beside A";
  EXPECT_EQ(count_of(html, "role=\"img\""), count_of(html, "class=\"summary\""));
}

TEST(BenchPage, WithoutEnergySaysWhy) {
  const std::string html = html_of(page_of(sample_bench(false)));
  EXPECT_THAT(html, HasSubstr("nothing: not measured"));
  EXPECT_THAT(html, HasSubstr("no energy of gpu: no GPU with its own power sensor was found"));
  EXPECT_THAT(html, Not(HasSubstr("</figcaption>\n<svg class=\"drawing\" viewBox=\"0 0 480 0")));
}

TEST(BenchPage, IsWellFormedWhateverWasMeasured) {
  BenchRecord hostile = sample_bench(true);
  hostile.host = {.name = kHostileName, .boot_id = {}, .cpu = kHostileName, .gpus = {}};
  hostile.warnings = {kHostileName};
  hostile.energy_missing = {{kHostileName, kHostileName, kHostileName}};
  for (BenchCommand& command : hostile.commands) {
    command.name = kHostileName;
    command.parameters = {{kHostileName, kHostileName}};
  }
  BenchRecord unfinished = sample_bench(true);
  unfinished.is_interrupted = true;
  unfinished.commands[1].runs.clear();
  unfinished.commands[0].runs.resize(1);
  BenchRecord huge = sample_bench(true);
  huge.commands[0].runs[0].wall = Seconds(std::numeric_limits<double>::max());
  huge.commands[0].runs[1].wall = Seconds(-std::numeric_limits<double>::max());
  for (const BenchRecord& bench : {hostile, unfinished, huge, BenchRecord{}}) {
    const std::string html = html_of(page_of(bench));
    EXPECT_EQ(markup_fault(html), "");
    EXPECT_EQ(count_of(html, "<script"), 0U);
  }
}

/// A scan of a parameter; each command's energy is twice its value.
BenchRecord scan_of(const std::vector<std::vector<std::pair<std::string, std::string>>>& all) {
  BenchRecord bench = sample_bench(true);
  const BenchCommand one = bench.commands.front();
  bench.commands.clear();
  for (const auto& parameters : all) {
    BenchCommand& command = bench.commands.emplace_back(one);
    command.parameters = parameters;
    for (RunCost& run : command.runs) run.energy = Joules(2.0 * std::stod(parameters[0].second));
  }
  return bench;
}

TEST(ScanPlot, HasACurveOverTheParameterThatIsANumber) {
  const auto plot = scan_plot(scan_of({{{"n", "4"}}, {{"n", "1"}}, {{"n", "2"}}}));
  ASSERT_TRUE(plot.has_value());
  EXPECT_EQ(plot->name, "energy over n");
  EXPECT_EQ(plot->unit, "J");
  ASSERT_EQ(plot->curves.size(), 1U);
  EXPECT_EQ(plot->curves[0].name, "");
  std::vector<std::pair<double, double>> points;
  for (const CurvePlot::Point& point : plot->curves[0].points)
    points.emplace_back(point.x, point.y);
  EXPECT_THAT(points, ElementsAre(std::pair(1.0, 2.0), std::pair(2.0, 4.0), std::pair(4.0, 8.0)));
}

TEST(ScanPlot, HasACurveForEachValueOfTheOtherParameters) {
  const auto plot = scan_plot(scan_of({{{"n", "1"}, {"mode", "a"}},
                                       {{"n", "1"}, {"mode", "b"}},
                                       {{"n", "2"}, {"mode", "a"}},
                                       {{"n", "3"}, {"mode", "a"}}}));
  ASSERT_TRUE(plot.has_value());
  ASSERT_EQ(plot->curves.size(), 2U);
  EXPECT_EQ(plot->curves[0].name, "mode a");
  EXPECT_EQ(plot->curves[0].points.size(), 3U);
  EXPECT_EQ(plot->curves[1].name, "mode b");
}

TEST(ScanPlot, NeedsThreeNumbers) {
  EXPECT_FALSE(scan_plot(scan_of({{{"n", "1"}}, {{"n", "2"}}})).has_value());
  BenchRecord words = scan_of({{{"n", "1"}}, {{"n", "2"}}, {{"n", "3"}}});
  words.commands[1].parameters[0].second = "two";
  EXPECT_FALSE(scan_plot(words).has_value());
}

TEST(BenchPage, PlotsTheCostOverAScannedParameter) {
  const std::string html =
      html_of(page_of(scan_of({{{"<n>", "1"}}, {{"<n>", "2"}}, {{"<n>", "3"}}})));
  EXPECT_THAT(html, HasSubstr("energy over &lt;n&gt;"));
  EXPECT_THAT(html, HasSubstr("<figure class=\"curves\">"));
  EXPECT_EQ(markup_fault(html), "");
}

TEST(BenchPage, OfManyRunsIsSmall) {
  BenchRecord bench = sample_bench(true);
  for (BenchCommand& command : bench.commands) {
    const std::vector<RunCost> runs = command.runs;
    while (command.runs.size() < 20'000) {
      command.runs.insert(command.runs.end(), runs.begin(), runs.end());
    }
  }
  const std::string html = to_html(page_of(bench));
  EXPECT_LT(html.size(), 400'000U);
  EXPECT_THAT(html, HasSubstr("the lowest and the highest of each group"));
  EXPECT_THAT(html, HasSubstr("runs are not in the table."));
}

TEST(ThinnedRuns, KeepTheExtremesOfEachGroup) {
  EXPECT_THAT(thinned({1, 5, 3, 4, 2, 9, 7, 8}, 4), ElementsAre(1, 5, 2, 9));
  EXPECT_THAT(thinned({1, 2}, 4), ElementsAre(1, 2));
  EXPECT_THAT(thinned({3, 3, 3, 3}, 2), ElementsAre(3));
}

// From 0 to 20 in 432 pixels and a margin of 4 % on both sides: 20 are a pixel each.
TEST(DotPlot, DrawsFirstRunsAtTheTop) {
  DotPlot plot{.name = "time",
               .unit = "s",
               .rows = {{"A", "10 s", {0.0, 20.0}, 2, 10.0, std::pair(5.0, 15.0)}},
               .summary = "What it shows."};
  const std::string svg = figure_of(plot, "p");
  EXPECT_THAT(svg, HasSubstr("d=\"M40.0 23.0h0M440.0 33.0h0\""));
  EXPECT_THAT(svg, HasSubstr("<path class=\"mark\" d=\"M240.0 16v24\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect class=\"interval\" x=\"140.0\" y=\"18\" width=\"200.0\""));
  EXPECT_THAT(svg, HasSubstr(">10 s</text>"));
}

TEST(DotPlot, OfEqualValuesHasAnAxis) {
  const DotPlot plot{
      .name = "n", .unit = "%", .rows = {{"A", "", {}, 0, 0.0}}, .line = 0.0, .summary = "s"};
  EXPECT_THAT(figure_of(plot, "p"), HasSubstr("<path class=\"mark\" d=\"M240.0"));
}

RunsOfCommand side_of(const std::string& name, double factor) {
  RunsOfCommand side{.name = name, .host = {.name = "n1", .cpu = "Model"}, .runs = {}};
  for (std::size_t i = 0; i < 6; ++i) {
    side.runs.push_back(
        run_of(0, factor * (1.0 + 0.01 * static_cast<double>(i % 3)), 50.0 * factor));
  }
  return side;
}

TEST(ComparePage, HasTheChangeOfEachCost) {
  const RunSource a{"before.json", {side_of("make", 1.0)}};
  const RunSource b{"after.json", {side_of("make", 0.8)}};
  const std::vector<ComparedRuns> all = compare_sources(a, b, false);
  const std::string html = html_of(page_of(a, b, all));
  EXPECT_EQ(markup_fault(html), "");
  expect_golden("compare.html", html);
  EXPECT_THAT(html, HasSubstr("<strong>after.json uses 20.0 % less energy than before.json"));
  EXPECT_EQ(count_of(html, "class=\"interval\""), kCosts.size() + 2 * kCosts.size());
}

TEST(ComparePage, OfSeveralCommandsHasASectionForEach) {
  const RunSource a{kHostileName, {side_of("make", 1.0), side_of(kHostileName, 1.0)}};
  const RunSource b{kHostileName, {side_of("make", 0.8), side_of(kHostileName, 0.9)}};
  const std::string html = html_of(page_of(a, b, compare_sources(a, b, false)));
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_THAT(html, HasSubstr("<h2>make</h2>"));
}

NamedRecord job_run(unsigned rank, const std::string& host, std::optional<double> energy_j) {
  Report record;
  record.command = {"solver"};
  record.host.name = host;
  record.started_unix_s = 1.7e9;
  record.ended_unix_s = 1.7e9 + 10.0;
  record.wall = Seconds(10.0);
  record.slurm = SlurmJob{.job_id = "77"};
  record.mpi = Rank{.rank = rank, .size = 4};
  record.usage.cpu_user = Seconds(4.0);
  record.usage.cpu_system = Seconds(1.0);
  record.usage.peak_rss_bytes = 1000;
  if (energy_j) {
    record.energy.total = {.energy = Joules(*energy_j),
                           .uncertainty = Joules(3.0),
                           .common = Joules(3.0),
                           .covers = {"cpu"},
                           .missing = {{.subject = "dram", .reason = "no counter"}}};
  } else {
    record.energy.left_out = "rank 0 of this machine measures it";
  }
  return {"run-" + std::to_string(rank) + ".json", std::move(record)};
}

PowerCourse course_of(std::size_t count) {
  PowerCourse course{.length = Seconds(0.1) * static_cast<double>(count),
                     .column = Seconds(0.1),
                     .step = Seconds(0.1)};
  course.domains.push_back({"package_0", {}});
  for (std::size_t i = 0; i < count; ++i) {
    course.domains[0].columns.push_back(
        {.mean = Watts(50.0 + 10.0 * std::sin(0.3 * static_cast<double>(i))),
         .uncertainty = Watts(1.0)});
  }
  return course;
}

TEST(JobPage, HasNodesRanksAndWhatIsMissing) {
  std::vector<NamedRecord> records = {job_run(0, "n1", 500.0), job_run(1, "n1", std::nullopt),
                                      job_run(2, "n2", 600.0)};
  records[0].record.energy.course = course_of(100);
  const std::string html = html_of(page_of(job_reports(records)));
  EXPECT_EQ(markup_fault(html), "");
  expect_golden("job.html", html);
  EXPECT_THAT(html, HasSubstr("<h1>Job 77</h1>"));
  EXPECT_THAT(html, HasSubstr("ranks without a record: 3"));
  EXPECT_THAT(html, HasSubstr("n1, n2: no DRAM: no counter"));
  EXPECT_THAT(html, HasSubstr("Unknown for 1 of 2 runs"));
  EXPECT_EQ(count_of(html, "<figure class=\"power\""), 1U);
  EXPECT_THAT(html, HasSubstr("Mean 50 W; 40 W to 60 W over 0.100 s."));
}

TEST(JobPage, HasPhasesAsStripes) {
  std::vector<NamedRecord> records = {job_run(0, "n1", 500.0)};
  records[0].record.energy.course = course_of(100);
  records[0].record.phases.rows = {{.name = "load", .spans = {{Seconds(0), Seconds(1)}}},
                                   {.name = "train", .spans = {{Seconds(1), Seconds(4)}}}};
  const std::string html = html_of(page_of(job_reports(records)));
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<rect class=\"phase\""), 2U);
  EXPECT_THAT(html, HasSubstr("data-name=\"train\""));
}

TEST(JobPage, OfForeignNamesIsWellFormed) {
  NamedRecord run = job_run(0, kHostileName, 500.0);
  run.name = kHostileName;
  run.record.slurm->job_id = kHostileName;
  run.record.energy.total.missing = {{kHostileName, kHostileName}};
  run.record.energy.course = course_of(10);
  run.record.energy.course.domains[0].name = kHostileName;
  NamedRecord apart = job_run(1, "n2", 5.0);
  apart.record.slurm.reset();
  const std::string html = html_of(page_of(job_reports({run, apart})));
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<script"), 0U);
  EXPECT_THAT(html, HasSubstr("<h1>2 jobs</h1>"));
}

TEST(JobPage, OfManyNodesIsSmall) {
  std::vector<NamedRecord> records;
  for (unsigned i = 0; i < 200; ++i) {
    records.push_back(job_run(i, "n" + std::to_string(i), 500.0));
    records.back().record.energy.course = course_of(720);
    for (int step = 0; step < 100; ++step) {
      const Seconds begin(0.7 * step);
      records.back().record.phases.rows.push_back(
          {.name = "step " + std::to_string(step), .spans = {{begin, begin + Seconds(0.5)}}});
    }
  }
  const std::string html = to_html(page_of(job_reports(records)));
  EXPECT_LT(html.size(), 400'000U);
  EXPECT_THAT(html, HasSubstr("160 more plots are left out."));
  EXPECT_THAT(html, HasSubstr("Of 100 intervals of phases the 7 longest are drawn as stripes."));
}

TEST(BenchPage, SaysOfOneRunWhatItCost) {
  BenchRecord bench = sample_bench(true);
  bench.commands[0].runs.resize(1);
  bench.commands[1].runs.resize(2);
  const std::string html = html_of(page_of(bench));
  EXPECT_THAT(html, HasSubstr(", 1 run."));
  EXPECT_THAT(html, HasSubstr(", 2 runs from "));
}

}  // namespace
}  // namespace wattle::html
