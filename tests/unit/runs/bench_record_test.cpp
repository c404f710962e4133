#include "runs/bench/bench_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/split.hpp"
#include "golden.hpp"
#include "runs/bench/bench_text.hpp"
#include "runs/bench/scan_table.hpp"
#include "sample_bench.hpp"
#include "wattle/error.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::expect_golden;

std::string text_of(const BenchRecord& bench, const TextStyle& style) {
  std::string text;
  for (const BenchCommand& command : bench.commands) text += to_text(command, style) + "\n";
  return text + summary_text(bench, style);
}

/// The commands of a scan over `threads`, each with this mean energy.
BenchRecord scan_of_threads(const std::vector<std::pair<std::string, double>>& energies) {
  BenchRecord bench = sample_bench(true);
  bench.commands.clear();
  for (const auto& [threads, energy_j] : energies) {
    BenchCommand command{"solve " + threads, "solve " + threads, {{"threads", threads}}, {}};
    for (std::size_t round = 1; round <= 3; ++round) {
      command.runs.push_back(run_of(round, 0.15, energy_j));
    }
    bench.commands.push_back(std::move(command));
  }
  return bench;
}

TEST(ScanTable, IsOrderedByEnergyAndHasTimesBesidePercent) {
  const auto scan = scan_table(scan_of_threads({{"1", 100.0}, {"4", 50.0}, {"8", 60.0}}));
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->ordered_by, "energy");
  EXPECT_EQ(scan->titles, (std::vector<std::string>{"threads", "energy ± (95 %)", "time ± sd",
                                                    "beside the least"}));
  ASSERT_EQ(scan->rows.size(), 3U);
  EXPECT_EQ(scan->rows[0].front(), "4");
  EXPECT_EQ(scan->rows[0].back(), "the least");
  EXPECT_EQ(scan->rows[1].front(), "8");
  EXPECT_EQ(scan->rows[1].back(), "20.0 % more, 1.2 times");
  EXPECT_EQ(scan->rows[2].front(), "1");
  EXPECT_EQ(scan->rows[2].back(), "100 % more, 2.0 times");
}

TEST(ScanTable, IsOrderedByTimeWhereAnEnergyIsUnknown) {
  BenchRecord bench = scan_of_threads({{"1", 50.0}, {"2", 60.0}});
  for (RunCost& run : bench.commands[0].runs) {
    run.energy.reset();
    run.wall = Seconds(0.3);
  }
  const auto scan = scan_table(bench);
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->ordered_by, "time");
  EXPECT_EQ(scan->rows[0].front(), "2");
}

TEST(ScanTable, HasTheErrorOfItsMeansAndTheirFlags) {
  BenchRecord bench = scan_of_threads({{"1", 100.0}, {"4", 50.0}});
  for (RunCost& run : bench.commands[1].runs) {
    run.uncertainty = Joules(5.0);
    run.energy_flags = Flags::of(Flag::partial_coverage);
  }
  const auto scan = scan_table(bench);
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->rows[0].at(1), "50.0 J ±5.0 J");
  EXPECT_EQ(scan->rows[0].back(), "the least, partial_coverage");
  EXPECT_EQ(scan->rows[1].back(), "100 % more, 2.0 times");
}

TEST(ScanTable, IsAbsentWithoutParameters) { EXPECT_FALSE(scan_table(sample_bench(true))); }

TEST(BenchRecord, KeepsWhatComesBackInEachRun) {
  BenchRecord bench = sample_bench(true);
  bench.commands[0].runs[0].common = Joules(-0.15);
  const BenchRecord read = parse_bench_record(to_json(bench), "bench.json");
  EXPECT_EQ(read.commands[0].runs[0].common, Joules(-0.15));
  EXPECT_EQ(read.commands[0].runs[1].common, std::nullopt) << "as in files of old versions";
}

TEST(BenchText, FitsATerminal) {
  const TextStyle style{.width = 80};
  const std::string text = text_of(sample_bench(true), style);
  expect_golden("screen_bench.txt", text);
  std::string_view rest = text;
  std::size_t lines = 0;
  for (; !rest.empty(); ++lines) EXPECT_LE(columns_of(take_line(rest)), 80U);
  EXPECT_LE(lines, 24U) << text;
}

TEST(BenchText, EndsAScanWithATable) {
  const std::string text = text_of(scan_of_threads({{"1", 100.0}, {"4", 50.0}}), {.width = 80});
  EXPECT_THAT(text, testing::EndsWith("150.0 ms ± 0.000 ms  100 % more, 2.0 times\n")) << text;
}

/// The times of a text as (value, last digit) in milliseconds; those after ± are left out.
std::vector<std::pair<double, double>> times_in(const std::string& text) {
  static const std::regex kTime(R"((± )?([0-9]+)(?:\.([0-9]+))? (ms|s)\b)");
  std::vector<std::pair<double, double>> times;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), kTime);
       it != std::sregex_iterator(); ++it) {
    if ((*it)[1].matched) continue;
    const double unit_ms = (*it)[4] == "s" ? 1000.0 : 1.0;
    const std::string decimals = (*it)[3];
    const double digit = std::pow(10.0, -static_cast<double>(decimals.size()));
    times.emplace_back(std::stod((*it)[2].str() + "." + decimals) * unit_ms, digit * unit_ms);
  }
  return times;
}

/// "150 ms" beside "130.2 ms" would be one known to 1 ms, and one to 0.1 ms.
TEST(BenchText, HasFourDigitsOfEachTimeWhateverTheyAre) {
  std::mt19937 random(20261129);
  std::uniform_real_distribution<double> decades(0.4, 5.7);  // 2.5 ms to 500 s
  std::uniform_int_distribution<int> is_round(0, 1);
  std::size_t seen = 0;
  for (int round = 0; round < 300; ++round) {
    BenchRecord bench = scan_of_threads({{"1", 100.0}, {"2", 50.0}});
    for (BenchCommand& command : bench.commands) {
      double wall_ms = std::pow(10.0, decades(random));
      if (is_round(random) == 1) wall_ms = std::round(wall_ms);
      for (std::size_t run = 0; run < command.runs.size(); ++run) {
        command.runs[run].wall = Seconds(wall_ms * (1.0 + 0.001 * static_cast<double>(run)) / 1e3);
        command.runs[run].cpu_user = command.runs[run].wall;
        command.runs[run].cpu_system = Seconds(0);
      }
    }
    const std::string text = text_of(bench, {});
    for (const auto& [value_ms, digit_ms] : times_in(text)) {
      EXPECT_LE(digit_ms, 1.0001e-3 * value_ms) << value_ms << " ms\n" << text;
      ++seen;
    }
  }
  EXPECT_GT(seen, 300U * 2 * 2 * 3) << "mean, least and most of time and CPU time of two commands";
}

TEST(BenchRecord, AsTextsForPeopleAndPrograms) {
  const BenchRecord bench = sample_bench(true);
  expect_golden("bench.txt", text_of(bench, {}));
  expect_golden("bench.csv", to_csv(bench));
  expect_golden("bench.md", to_markdown(bench));
  expect_golden("bench.adoc", to_asciidoc(bench));
}

TEST(BenchRecord, ShowsNamesInDocumentsAsTheyAre) {
  using Shown = std::pair<std::string, std::string>;  // Markdown, AsciiDoc
  BenchRecord bench = sample_bench(true);
  const auto shown = [&](const std::string& name) {
    bench.commands[0].name = name;
    const std::string markdown = to_markdown(bench);
    const std::string asciidoc = to_asciidoc(bench);
    const std::size_t row = markdown.find("|\n| `") + 4;
    const std::size_t cell = asciidoc.find("\n\n| `") + 4;
    return Shown(markdown.substr(row, markdown.find(" | ", row) - row),
                 asciidoc.substr(cell, asciidoc.find('\n', cell) - cell));
  };
  EXPECT_EQ(shown("make -j2"), Shown("`make -j2`", "`make -j2`"));
  EXPECT_EQ(shown("a|b"), Shown("`a\\|b`", "`a\\|b`"));
  EXPECT_EQ(shown("echo `date` ``"), Shown("``` echo `date` `` ```", "`pass:c[echo `date` ``]`"));
  EXPECT_EQ(shown("x[1] *y* {z}"), Shown("`x[1] *y* {z}`", "`pass:c[x[1\\] *y* {z}]`"));
}

TEST(BenchRecord, LeavesEnergiesOfFewerDomainsOutOfItsFigures) {
  BenchRecord bench = sample_bench(true);
  for (BenchCommand& command : bench.commands) {
    for (RunCost& run : command.runs) run.energy_domains = {"package_0", "package_1"};
  }
  for (const std::size_t broken : {1U, 4U}) {
    RunCost& run = bench.commands[1].runs[broken];
    run.energy_domains = {"package_0"};
    run.energy = Joules(20.0);
  }
  mark_missing_domains(bench);
  const std::string text = to_text(bench.commands[1], {});
  EXPECT_THAT(text, HasSubstr("energy (4 of 6)"));
  EXPECT_THAT(text, testing::Not(HasSubstr("20.00 J")));
  EXPECT_THAT(warnings_of(bench.commands[1]),
              Contains("B: the energy of 2 of 6 runs is in no figure: package_1 was not "
                       "measured in them"));
  const auto json = nlohmann::json::parse(to_json(bench));
  EXPECT_EQ(json["results"][1]["energy_j"]["runs"], 4);
  EXPECT_EQ(json["results"][1]["values"]["energy_j"][1], 20.0) << "as it was measured";
  BenchRecord again = parse_bench_record(to_json(bench), "b");
  mark_missing_domains(again);
  EXPECT_THAT(again.commands[1].runs[1].missing_domains, testing::ElementsAre("package_1"));
}

TEST(BenchRecord, SaysOfEachKindWhetherAPartOrAllOfItIsMissing) {
  BenchRecord bench = sample_bench(true);
  bench.energy_missing = {{"cpu", "its sensor failed", ""}, {"dram", "its sensor failed", ""}};
  EXPECT_THAT(missing_energy(bench),
              testing::ElementsAre(HasSubstr("not all energy of cpu: its sensor failed"),
                                   "no energy of dram: its sensor failed"));
}

TEST(BenchRecord, HasNoPeakMemoryOfTheLargeRunsAlone) {
  BenchRecord bench = sample_bench(false);
  bench.commands[0].runs[2].peak_rss_bytes.reset();
  EXPECT_THAT(to_text(bench.commands[0], {}), testing::Not(HasSubstr("peak memory")));
  EXPECT_THAT(warnings_of(bench.commands[0]),
              Contains("A: the peak memory of 1 of 6 runs is too small to be known, so there is no "
                       "mean"));
}

/// It is in the text and in the JSON, apart, and in no table; nothing is compared by it.
TEST(BenchRecord, HasAnEstimateWhereNoMeasurementStands) {
  BenchRecord bench = sample_bench(false);
  bench.energy_missing = {{"cpu", "there is no counter", ""}};
  EXPECT_THAT(text_of(bench, {}), HasSubstr("there is no counter; --estimate prints a range"));
  for (BenchCommand& command : bench.commands) {
    command.estimate.emplace();
    command.estimate->machine = {.low = Joules(1.0), .typical = Joules(2.0), .high = Joules(3.0)};
  }
  const std::string text = text_of(bench, {});
  EXPECT_THAT(text, HasSubstr("  estimate, not measured: ~2.0 J (1.0 J to 3.0 J)"));
  EXPECT_THAT(text, testing::Not(HasSubstr("--estimate")));
  const auto json = nlohmann::ordered_json::parse(to_json(bench));
  EXPECT_EQ(json["results"][1]["estimate"]["typical_j"], 2.0);
  EXPECT_THAT(estimate_words(bench.commands[1]).front(),
              testing::StartsWith("estimate, not measured: ~2.0 J (1.0 J to 3.0 J)"));
  EXPECT_TRUE(json["results"][1]["energy_j"].is_null());
  EXPECT_TRUE(json["results"][1]["values"]["energy_j"][0].is_null());
  for (const std::string& table : {to_csv(bench), to_markdown(bench), to_asciidoc(bench)}) {
    EXPECT_THAT(table, testing::Not(HasSubstr("estimate")));
  }
}

TEST(BenchRecord, WithoutEnergySaysWhyOnce) {
  BenchRecord bench = sample_bench(false);
  bench.energy_missing.insert(bench.energy_missing.begin(), {"cpu", "no sensor", ""});
  expect_golden("bench_without_energy.txt", text_of(bench, {}));
  const auto json = nlohmann::json::parse(to_json(bench));
  EXPECT_TRUE(json["results"][0]["energy_j"].is_null());
  EXPECT_TRUE(json["results"][0]["values"]["energy_j"][0].is_null());
  EXPECT_EQ(json["energy"]["missing"][0]["reason"], "no sensor");
}

TEST(BenchRecord, ComesBackFromItsJson) {
  const BenchRecord bench = sample_bench(true);
  const std::string json = to_json(bench);
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  const BenchRecord read = parse_bench_record(json, "bench.json");
  const auto before = nlohmann::json::parse(json);
  const auto after = nlohmann::json::parse(to_json(read));
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(after["results"][i]["values"], before["results"][i]["values"]);
    EXPECT_EQ(after["results"][i]["name"], before["results"][i]["name"]);
  }
  EXPECT_EQ(after["comparisons"][0], before["comparisons"][0]);
  EXPECT_EQ(after["host"], before["host"]);
  EXPECT_EQ(read.commands[0].parameters, bench.commands[0].parameters);
  EXPECT_EQ(read.commands[1].runs.size(), 6U);
}

TEST(BenchRecord, HasEachComparisonInItsJson) {
  const auto json = nlohmann::json::parse(to_json(sample_bench(true)));
  EXPECT_EQ(json["schema"], "wattle.bench/1");
  EXPECT_EQ(json["comparisons"].size(), 5U);
  const auto& energy = json["comparisons"][0];
  EXPECT_EQ(energy["quantity"], "energy_j");
  EXPECT_TRUE(energy["is_paired"].get<bool>());
  EXPECT_NEAR(energy["change_percent"].get<double>(), -10.0, 0.1);
}

TEST(BenchRecord, ThatIsNoneIsRefused) {
  EXPECT_THROW((void)parse_bench_record("{}", "x"), FormatError);
  EXPECT_THROW((void)parse_bench_record(R"({"schema":"wattle.bench/9"})", "x"), FormatError);
  EXPECT_THROW((void)parse_bench_record(R"({"schema":"wattle.bench/1"})", "x"), FormatError);
}

TEST(BenchWarnings, AreAboutRunsThatDiffer) {
  BenchCommand command{"A", "a", {}, {}};
  for (std::size_t round = 1; round <= 12; ++round) {
    command.runs.push_back(run_of(round, round % 2 == 0 ? 1.0 : 1.004, std::nullopt));
  }
  EXPECT_THAT(warnings_of(command), IsEmpty());
  BenchCommand cold = command;
  cold.runs[0].wall = Seconds(2.0);
  EXPECT_THAT(warnings_of(cold), Contains(HasSubstr("the first run differs")));
  BenchCommand disturbed = command;
  disturbed.runs[4].wall = Seconds(2.0);
  EXPECT_THAT(warnings_of(disturbed), Contains(HasSubstr("1 of 12 runs are outliers")));
  BenchCommand measured = command;
  for (RunCost& run : measured.runs) run.energy = Joules(run.wall.count());
  measured.runs[0].energy.reset();
  measured.runs[1].energy = Joules(2.0);
  measured.runs[6].energy = Joules(2.0);
  EXPECT_THAT(warnings_of(measured),
              Contains(HasSubstr("2 of 11 runs are outliers in energy (run 2 and 7)")));
  BenchCommand warming = command;
  for (RunCost& run : warming.runs) run.wall *= 1.0 + 0.02 * static_cast<double>(run.round);
  EXPECT_THAT(warnings_of(warming), Contains(HasSubstr("from the first to the last run")));
  BenchCommand busy = command;
  for (RunCost& run : busy.runs) run.other_cores = 1.5;
  EXPECT_THAT(warnings_of(busy), Contains(HasSubstr("other programs use 1.5 CPU cores")));
  BenchCommand quick = command;
  for (RunCost& run : quick.runs) run.wall = Seconds(0.001);
  EXPECT_THAT(warnings_of(quick), Contains(HasSubstr("shorter than 5 ms")));
}

TEST(BenchWarnings, AreAboutTheEnergyOfOtherProgramsOnlyWhereEnergyIsMeasured) {
  BenchCommand busy{"A", "a", {}, {}};
  for (std::size_t round = 1; round <= 12; ++round) {
    busy.runs.push_back(run_of(round, round % 2 == 0 ? 1.0 : 1.004, std::nullopt));
    busy.runs.back().other_cores = 1.5;
  }
  EXPECT_THAT(warnings_of(busy), ElementsAre(HasSubstr("use a quiet machine")));
  EXPECT_THAT(warnings_of(busy), Not(Contains(HasSubstr("energy"))));
  for (RunCost& run : busy.runs) run.energy = Joules(run.wall.count());
  EXPECT_THAT(warnings_of(busy), ElementsAre(HasSubstr("their energy is in the figures")));
  for (RunCost& run : busy.runs) run.other_cores = 0.1;
  EXPECT_THAT(warnings_of(busy), IsEmpty());
}

}  // namespace
}  // namespace wattle
