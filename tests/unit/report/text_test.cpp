#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <locale>
#include <string>
#include <string_view>

#include "golden.hpp"
#include "report/report.hpp"
#include "sample_reports.hpp"

namespace wattle {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string text_of(const Report& report) { return to_text(report, {}); }

TEST(ReportText, WithEnergy) { expect_golden("measured.txt", text_of(measured())); }

TEST(ReportText, NamesTheSensorsOwnErrorBesideThatOfSampling) {
  Report report = measured();
  ASSERT_GE(report.energy.domains.size(), 2U);
  report.energy.domains[0].calibration = SensorError{18.5, "compared with pdu.csv on 2026-09-21"};
  std::string text = text_of(report);
  std::erase(text, '\n');
  EXPECT_THAT(text, HasSubstr("sensor ±19 % (compared with pdu.csv on 2026-09-21), unknown for"));
  for (DomainFigure& domain : report.energy.domains) {
    domain.calibration = SensorError{5.0, "compared with pdu.csv on 2026-09-21"};
  }
  EXPECT_THAT(text_of(report), HasSubstr("sensor ±5 %"));
  EXPECT_THAT(text_of(report), Not(HasSubstr("unknown for")));
}

TEST(ReportText, WithoutSensors) {
  expect_golden("without_sensors.txt", text_of(without_sensors()));
}

TEST(ReportText, WithAnEstimate) { expect_golden("estimated.txt", text_of(estimated())); }

TEST(ReportText, WithoutAShareSaysWhy) {
  Report report = measured();
  report.share = EnergyShare{.unknown = "the CPU time of the whole machine is unknown"};
  EXPECT_THAT(text_of(report), testing::HasSubstr("no share of this command: the CPU time of the "
                                                  "whole machine is unknown"));
}

TEST(ReportText, WithAShare) { expect_golden("shared.txt", text_of(shared())); }

TEST(ReportText, NamesTheOptionOnlyWhereItWouldHelp) {
  EXPECT_THAT(text_of(without_sensors()), HasSubstr("--estimate"));
  EXPECT_THAT(text_of(estimated()), Not(HasSubstr("--estimate")));
  EXPECT_THAT(text_of(measured()), Not(HasSubstr("--estimate")));
}

TEST(ReportText, WithUnknownStretches) {
  expect_golden("with_unknown_stretches.txt", text_of(with_unknown_stretches()));
}

TEST(ReportText, OfACommandThatWasKilled) { expect_golden("killed.txt", text_of(killed())); }

TEST(ReportText, OfACommandThatLeftProcesses) {
  expect_golden("still_running.txt", text_of(still_running()));
}

TEST(ReportText, WithForeignText) {
  expect_golden("with_foreign_text.txt", text_of(with_foreign_text()));
}

TEST(ReportText, OfAnotherRank) {
  expect_golden("of_another_rank.txt", text_of(of_another_rank()));
}

TEST(ReportText, OfACommandThatDidNotStart) {
  expect_golden("not_started.txt", text_of(not_started()));
}

TEST(ReportText, HasARowForEachPhase) {
  Report report = measured();
  PhaseReport load{.name = "load", .time = Seconds(0.5), .cpu = Seconds(0.25)};
  load.total.energy = Joules(12.5);
  load.total.uncertainty = Joules(0.5);
  load.total.mean = Watts(25.0);
  load.peak_memory_bytes = 1'500'000;
  load.spans = {{}};
  PhaseReport inner{.name = "read\x1b[31m", .parent = 0, .depth = 1, .spans = {{}, {}}};
  report.phases = {.rows = {load, inner}, .marks = 5, .ignored = 1, .dropped = 2};
  const std::string text = text_of(report);
  EXPECT_THAT(text, HasSubstr("  load                      0.500 s  12.50 J ±0.50 J  25 W   "
                              "0.250 s  1.500 MB\n"))
      << text;
  EXPECT_THAT(text, HasSubstr("    read\\x1b[31m (2 times)"));
  EXPECT_THAT(text, HasSubstr("unknown"));
  EXPECT_THAT(text, HasSubstr("1 marks were ignored"));
  EXPECT_THAT(text, HasSubstr("2 more phases are not listed"));
}

TEST(ReportText, HasItsFlagsInTheFirstLineAndAtPhases) {
  Report report = measured();
  report.energy.total.flags = Flags::of(Flag::partial_coverage);
  PhaseReport load{.name = "load", .time = Seconds(0.5), .spans = {{}}};
  load.total.energy = Joules(12.5);
  load.total.flags = Flags::of(Flag::gap);
  load.total.flags.set(Flag::wrapped);  // nothing is lost by that
  report.phases = {.rows = {load}, .marks = 1};
  const std::string text = text_of(report);
  EXPECT_THAT(text, testing::ContainsRegex("^energy of this machine[^\n]*, partial_coverage\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n  load [^\n]*-  gap\n"));
}

TEST(ReportText, SaysAtLeastWhereAPartIsUnknown) {
  EXPECT_THAT(text_of(with_unknown_stretches()),
              StartsWith("energy of this machine while the command ran: at least "));
  EXPECT_THAT(text_of(measured()), Not(HasSubstr("at least")));
}

TEST(ReportText, SaysAtLeastWhereAPackageCouldNotBeRead) {
  Report report = measured();
  report.refused = {{.source = "powercap",
                     .subject = "package_2",
                     .reason = "readable by root only",
                     .domain = Domain::package(2)}};
  report.energy.total = total_of(report.energy.domains, report.refused);
  EXPECT_THAT(text_of(report), HasSubstr("at least"));
  EXPECT_THAT(text_of(report), HasSubstr("not all of CPU: package_2: readable by root only"));
}

TEST(ReportText, DrawsNoPowerThatNobodyKnows) {
  Report report = measured();
  report.energy.profile = {std::nullopt, std::nullopt};
  EXPECT_EQ(text_of(report).find("0 to"), std::string::npos);
}

TEST(ReportText, FitsTheTerminal) {
  expect_looks("look_run.txt", [](const TextStyle& style) {
    return to_text(measured(), style) + "\n" + to_text(with_unknown_stretches(), style);
  });
}

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(ReportText, OfEightGpusFitsATerminal) {
  const TextStyle style{.width = 80};
  expect_golden("run_8_gpus.txt", to_text(on_gpus(8, 8), style));
  for (const std::uint32_t used : {0U, 1U, 3U, 8U}) {
    EXPECT_LE(lines_of(to_text(on_gpus(8, used), style)), 24U) << to_text(on_gpus(8, used), style);
  }
}

TEST(ReportText, OfEightGpusFitsATerminalWithABaselineToo) {
  Report report = on_gpus(8, 8);
  report.share->balance = shared().share->balance;
  report.share->idle_basis = shared().share->idle_basis;
  const std::string text = to_text(report, {.width = 80});
  EXPECT_LE(lines_of(text), 24U) << text;
}

TEST(ReportText, NamesGpusThatTheCommandDidNotUseInOneLine) {
  for (const std::uint32_t count : {3U, 8U}) {
    const std::string all = text_of(on_gpus(count, 1));
    EXPECT_THAT(all, testing::ContainsRegex("\nnvidia_gpu_1-[27]  NVIDIA H100 80GB HBM3, 0 % busy, "
                                            "not used by the command\n"));
    const std::size_t first = all.find("not used");
    EXPECT_EQ(all.find("not used", first + 1), std::string::npos) << all;
  }
  const std::string text = text_of(on_gpus(8, 1));
  EXPECT_THAT(text, HasSubstr("share of nvidia_gpu_0, not measured: ~36.00 kJ: used by the command "
                              "alone\n"));
}

TEST(ReportText, ListsEachGpuWhereAllDetailsAreWanted) {
  const std::string text = to_text(on_gpus(8, 8), {}, Detail::all);
  for (int i = 0; i < 8; ++i) {
    const std::string name = "nvidia_gpu_" + std::to_string(i);
    EXPECT_THAT(text, HasSubstr("\n  " + name + "  "));
    EXPECT_THAT(text, HasSubstr("\n" + name + "  "));
    EXPECT_THAT(text, HasSubstr("share of " + name + ","));
  }
  EXPECT_THAT(to_text(on_gpus(8, 0), {}, Detail::all),
              HasSubstr("\n  no share of nvidia_gpu_7: not used by the command\n"));
}

TEST(ReportText, EndsItsTableWithTheTotal) {
  const std::string text = text_of(measured());
  const std::size_t total = text.find("\n  total ");
  ASSERT_NE(total, std::string::npos) << text;
  EXPECT_GT(total, text.find("\n  psys "));
  EXPECT_THAT(text.substr(total), StartsWith("\n  total       350.000 J ±0.067 J  175.0 W"));
}

TEST(ReportText, MarksATotalThatLacksAPart) {
  Report report = on_gpus(8, 8);
  report.energy.domains.back().figure.unknown = Seconds(1.5);
  report.energy.domains.back().figure.flags.set(Flag::gap);
  report.energy.total = total_of(report.energy.domains, report.refused);
  const std::string text = text_of(report);
  EXPECT_THAT(text, HasSubstr("1.500 s unknown (1 of 8), gap (1 of 8)"));
  EXPECT_THAT(text, HasSubstr("  nvidia_gpu_0-7  ≥296.400 kJ"));
  EXPECT_THAT(text, HasSubstr("  total           ≥312.617 kJ"));
}

TEST(ReportText, HasOneRangeAndAWayToNarrowItWithoutABaseline) {
  Report report = on_gpus(0, 0);
  EXPECT_THAT(text_of(report), HasSubstr("\n  share of this command, not measured: 0 J to 16 kJ; "
                                         "wattle baseline narrows it\n"));
  EXPECT_THAT(text_of(report), Not(HasSubstr("unexplained")));
  report.share->idle_unknown = "the machine was restarted since its baseline";
  EXPECT_THAT(text_of(report), HasSubstr("0 J to 16 kJ; the machine was restarted"));
}

TEST(ReportText, HasABlankAfterTheLongestLabel) {
  Report report = on_gpus(8, 8);
  EXPECT_THAT(text_of(report), HasSubstr("\nnvidia_gpu_0-7  NVIDIA H100"));
}

TEST(ReportText, OnAMachineWithAGpuFitsTheTerminal) {
  expect_looks("look_run_gpu.txt",
               [](const TextStyle& style) { return to_text(on_gpus(1, 1), style); });
}

TEST(ReportText, CutsALongCommand) {
  Report report = without_sensors();
  report.command.assign(100'000, "argument");
  EXPECT_LT(text_of(report).size(), 2000U);
}

/// Commas for points and points between thousands, as in Germany.
class GermanNumbers : public std::numpunct<char> {
 protected:
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

TEST(ReportText, HasPointsUnderAGermanLocale) {
  const std::string text = text_of(measured());
  const std::string json = to_json(measured());
  const std::locale before = std::locale::global(std::locale(std::locale(), new GermanNumbers));
  // The C library's own, where it is installed.
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // NOLINT(concurrency-mt-unsafe): one thread
  EXPECT_EQ(text_of(measured()), text);
  EXPECT_EQ(to_json(measured()), json);
  std::setlocale(LC_ALL, "C");  // NOLINT(concurrency-mt-unsafe)
  std::locale::global(before);
}

}  // namespace
}  // namespace wattle
