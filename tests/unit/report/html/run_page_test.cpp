#include "report/html/run_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "golden.hpp"
#include "markup.hpp"
#include "sample_reports.hpp"

namespace wattle::html {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)
using testing::HasSubstr;
using testing::Not;

/// Without style and script, which are built apart.
std::string html_of(const Report& report) { return to_html(page_of(report), {}); }

/// Power that goes up and down, with a gap.
std::vector<PowerColumn> columns_of(std::size_t count, double watts) {
  std::vector<PowerColumn> columns(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 10 == 7) continue;
    const double mean = watts * (1.0 + 0.5 * std::sin(static_cast<double>(i)));
    columns[i] = {.mean = Watts(mean), .uncertainty = Watts(mean * 0.05)};
  }
  return columns;
}

Report with_course() {
  Report report = measured();
  PowerCourse& course = report.energy.course;
  course = {.length = Seconds(2.0), .column = Seconds(0.1), .step = Seconds(0.1)};
  for (const DomainFigure& domain : report.energy.domains) {
    course.domains.push_back({domain.domain.name(), columns_of(20, domain.figure.mean->si())});
  }
  course.total = columns_of(20, 175.0);
  return report;
}

TEST(RunPage, AsAFile) { expect_golden("run.html", html_of(with_course())); }

TEST(RunPage, IsWellFormedWhateverHappened) {
  for (const Report& report :
       {measured(), with_course(), without_sensors(), with_unknown_stretches(), killed(),
        still_running(), with_foreign_text(), of_another_rank(), not_started(), estimated(),
        with_units()}) {
    EXPECT_EQ(markup_fault(html_of(report)), "") << report.command.front();
  }
}

TEST(RunPage, SaysWhyThereIsNoEnergy) {
  const std::string html = html_of(without_sensors());
  EXPECT_THAT(html, HasSubstr("no energy: this is a virtual machine; the host does not expose"));
  EXPECT_THAT(html, HasSubstr("measure on the host, or on a machine of your own"));
  EXPECT_THAT(html, Not(HasSubstr("<figure")));
}

TEST(RunPage, SetsAnEstimateApartFromMeasurements) {
  const std::string html = html_of(estimated());
  const std::size_t begin = html.find("<h2>Estimate, not measured</h2>\n<div class=\"estimate\">");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = html.find("</div>", begin);
  EXPECT_THAT(html.substr(begin, end - begin),
              HasSubstr("<p>estimate, not measured: ~21 J (7.5 J to"));
  EXPECT_EQ(html.find('~'), html.find('~', begin)) << "nothing before it";
  EXPECT_EQ(html.find('~', end), std::string::npos) << "nor after it";
  EXPECT_THAT(html_of(measured()), Not(HasSubstr("stimate")));
}

TEST(RunPage, SetsTheShareOfTheCommandApart) {
  Report report = measured();
  report.share.emplace();
  EXPECT_THAT(html_of(report), Not(HasSubstr("Share of this command")))
      << "there is nothing to say";
  report.share->gpus = {{.domain = Domain::nvidia_gpu(0),
                         .measured = Joules(100.0),
                         .command = {Joules(100.0), Joules(100.0), Joules(100.0)},
                         .is_known = true,
                         .basis = "used by the command alone"}};
  EXPECT_THAT(html_of(report), HasSubstr("<h2>Share of this command, not measured</h2>\n"
                                         "<div class=\"estimate\">\n<p>share of nvidia_gpu_0"));
}

TEST(RunPage, SaysWhyADomainIsUnknown) {
  Report report = with_unknown_stretches();
  report.energy.course = {.length = Seconds(2.0), .column = Seconds(0.1), .step = Seconds(0.1)};
  report.energy.course.domains = {{Domain::package(0).name(), columns_of(20, 80.0)}};
  const std::string html = html_of(report);
  EXPECT_THAT(html, HasSubstr("unknown; 2.000 s unknown, gap, lost."));
  EXPECT_THAT(html, HasSubstr("energy_uj is readable by root only"));
  EXPECT_EQ(count_of(html, "<svg class=\"drawing\""), 1U);
}

TEST(RunPage, OfACommandThatEndedAtOnce) {
  Report report = killed();
  report.wall = Seconds(0.0);
  EXPECT_THAT(html_of(report), HasSubstr("No power over time"));
}

TEST(RunPage, ShowsPhasesAsStripesAndInATable) {
  Report report = with_course();
  PhaseReport load{
      .name = "load <1>", .time = Seconds(0.5), .spans = {{Seconds(1.0), Seconds(1.5)}}};
  load.total.energy = Joules(40.0);
  load.total.uncertainty = Joules(0.4);
  const PhaseReport parse{.name = "parse",
                          .parent = 0,
                          .depth = 1,
                          .time = Seconds(0.2),
                          .spans = {{Seconds(1.1), Seconds(1.3)}}};
  report.phases.rows = {load, parse};
  const std::string html = html_of(report);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<rect class=\"phase\""), report.energy.domains.size() + 1);
  EXPECT_THAT(html, HasSubstr("data-name=\"load &lt;1&gt;\" data-from=\"1\" data-to=\"1.5\""));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">parse</th><td>load &lt;1&gt;</td>"));
  EXPECT_THAT(html, HasSubstr("40.00 J ±0.40 J"));
}

TEST(RunPage, ShowsUnitsOfWork) {
  const std::string html = html_of(with_units());
  EXPECT_THAT(html, HasSubstr("<h2>Units of work</h2>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">request:decode</th>"));
  EXPECT_THAT(html, HasSubstr("1.250 J (1.125 J to 1.375 J)"));
  EXPECT_THAT(html, HasSubstr("the energy of 2 units is unknown"));
  EXPECT_THAT(html, HasSubstr("5.000 W not explained by units"));
  EXPECT_THAT(html, HasSubstr("1 units have not ended"));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;\\x1b[2J"));
  EXPECT_EQ(count_of(html, "<script"), 0U);
}

TEST(RunPage, DrawsHowTheEnergyOfUnitsIsDistributed) {
  const std::string html = html_of(with_units());
  EXPECT_THAT(html, HasSubstr("Energy per unit over load"));
  EXPECT_THAT(html, HasSubstr("Energy per unit over work"));
  const std::size_t begin = html.find("data-name=\"request\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string dots = html.substr(begin, html.find("/>", begin) - begin);
  EXPECT_EQ(count_of(dots, "h0"), 50U) << "each stands for 4 units";
  const std::string axis_begin = dots.substr(dots.find("d=\"M"), 20);
  EXPECT_EQ(count_of(dots, axis_begin.substr(3, axis_begin.find(' ') - 3) + " "), 5U)
      << "a tenth of the units had none";
}

TEST(RunPage, DrawsTheUnitsOfAFewOfManyTags) {
  Report report = with_units();
  const UnitTag tag = report.units->tags.front();
  for (int i = 0; i < 1000; ++i) {
    report.units->tags.push_back(tag);
    report.units->tags.back().tag = "tag " + std::to_string(i);
  }
  const std::string html = html_of(report);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<path class=\"dots\" data-name="), 15U)
      << "of 16 tags one has no distribution";
  EXPECT_THAT(html, HasSubstr("986 more tags are not drawn."));
  EXPECT_THAT(html, HasSubstr("703 more tags and phases are not in the table."));
  EXPECT_LT(html.size(), 400'000U);
}

TEST(RunPage, DrawsTheLongestOfManyPhases) {
  Report report = with_course();
  for (int i = 0; i < 1000; ++i) {
    const Seconds begin(0.002 * i);
    const Seconds length(i == 500 ? 0.002 : 0.001);
    report.phases.rows.push_back(
        {.name = "step " + std::to_string(i), .time = length, .spans = {{begin, begin + length}}});
  }
  const std::string html = html_of(report);
  const std::size_t plots = report.energy.domains.size() + 1;
  EXPECT_EQ(count_of(html, "<rect class=\"phase\""), 300 / plots * plots);
  EXPECT_EQ(count_of(html, "data-name=\"step 500\""), plots);
  EXPECT_THAT(html, HasSubstr("Of 1000 intervals of phases the"));
}

TEST(RunPage, OfAClockThatIsWrong) {
  Report report = without_sensors();
  for (const double time : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    report.started_unix_s = time;
    EXPECT_THAT(html_of(report), Not(HasSubstr("UTC")));
  }
}

TEST(RunPage, ComparesDomainsOfOneKindOnOneScale) {
  const std::string html = html_of(with_course());
  const auto scale_of = [&](const std::string& name) {
    const std::size_t figure = html.rfind("data-steps", html.find("\">" + name + "</figcaption>"));
    return html.substr(figure, html.find('>', figure) - figure);
  };
  EXPECT_EQ(scale_of("package_0"), scale_of("package_1"));
  EXPECT_NE(scale_of("package_0"), scale_of("dram_0"));
}

// The size at worst: every bar is there, and no two values are alike.
TEST(RunPage, OfAnHourOfManyGpusIsSmall) {
  Report report = measured();
  report.energy.domains.clear();
  PowerCourse& course = report.energy.course;
  course = {.length = Seconds(3600.0), .column = Seconds(9.0), .step = Seconds(0.1)};
  const auto wild = [](unsigned seed) {
    std::vector<PowerColumn> columns(400);
    unsigned state = seed;
    const auto next = [&] { return (state = state * 1664525U + 1013904223U) % 1000; };
    for (PowerColumn& column : columns) {
      const double mean = 200.0 + next() * 0.3;
      column = {.mean = Watts(mean),
                .uncertainty = Watts(5.0 + next() * 0.01),
                .lowest = Watts(mean - 100.0),
                .highest = Watts(mean + next() * 0.2)};
    }
    return columns;
  };
  for (unsigned i = 0; i < 24; ++i) {
    const Domain domain = Domain::nvidia_gpu(static_cast<std::uint16_t>(i));
    report.energy.domains.push_back(domain_energy(domain, figure(1e6, 100.0, 280.0)));
    course.domains.push_back({domain.name(), wild(i)});
  }
  course.total = wild(99);
  EXPECT_LT(to_html(page_of(report)).size(), 400'000U);
}

}  // namespace
}  // namespace wattle::html
