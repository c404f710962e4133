#include "runs/compared_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden.hpp"
#include "sample_reports.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)
using testing::HasSubstr;
using testing::SizeIs;

/// Records of `runs` runs whose energy and time are `factor` times the sample's.
std::string lines_of(int runs, double factor, const std::string& host = "n1") {
  std::string lines;
  for (int i = 0; i < runs; ++i) {
    Report report = measured();
    report.host.name = host;
    const double part = factor * (1.0 + 0.002 * (i % 3));
    report.wall *= part;
    report.energy.total.energy = *report.energy.total.energy * part;
    lines += to_json(report);
  }
  return lines;
}

std::string error_of(const std::string& a, const std::string& b) {
  try {
    (void)compare_sources(read_source(a, "a.json"), read_source(b, "b.json"), false);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Without what differs between releases and machines: the version, the last digits.
std::string steady(const std::string& text) {
  auto json = nlohmann::ordered_json::parse(text);
  json["wattle_version"] = "VERSION";
  for (auto& comparison : json["comparisons"]) {
    for (auto& [key, value] : comparison.items()) {
      if (value.is_number_float()) value = std::round(value.get<double>() * 1e6) / 1e6;
    }
  }
  return json.dump(2) + "\n";
}

TEST(ComparedRuns, AreThoseOfTheOnlyCommandOfEach) {
  const RunSource a = read_source(lines_of(6, 1.0), "a.json");
  const RunSource b = read_source(lines_of(6, 1.2), "b.json");
  const auto all = compare_sources(a, b, false);
  ASSERT_THAT(all, SizeIs(1));
  ASSERT_EQ(all[0].comparisons.front().cost, Cost::energy);
  const LogRatio& ratio = *all[0].comparisons.front().ratio;
  EXPECT_NEAR(change_of(ratio.estimate), 0.2, 0.001);
  EXPECT_TRUE(ratio.is_shown());
  EXPECT_FALSE(all[0].comparisons.front().is_paired);
  expect_golden("compare.txt", to_text(a, b, all, {}));
  expect_golden("compare.json", steady(to_json(a, b, all)));
}

TEST(ComparedRuns, OfOneRunEachHaveNoInterval) {
  const RunSource a = read_source(lines_of(1, 1.0), "a.json");
  const RunSource b = read_source(lines_of(1, 1.2), "b.json");
  const auto all = compare_sources(a, b, false);
  EXPECT_FALSE(all[0].comparisons.front().ratio->interval);
  EXPECT_THAT(to_text(a, b, all, {}), HasSubstr("there is no interval for one run"));
}

TEST(ComparedRuns, NameCommandsThatOnlyOneSideHas) {
  const RunSource a = {.name = "a", .commands = {{.name = "x"}, {.name = "y"}}};
  const RunSource b = {.name = "b", .commands = {{.name = "x"}, {.name = "z"}}};
  const std::vector<ComparedRuns> all = {{a.commands[0], b.commands[0], {}}};
  const std::vector<std::string> notes = notes_on(a, b, all);
  EXPECT_THAT(notes, testing::Contains("a: y is not compared: b has no such command"));
  EXPECT_THAT(notes, testing::Contains("b: z is not compared: a has no such command"));
}

TEST(ComparedRuns, OfDifferentMachinesNeedForce) {
  const std::string a = lines_of(2, 1.0);
  const std::string b = lines_of(2, 1.0, "n2");
  EXPECT_THAT(error_of(a, b), HasSubstr("these machines differ; --force compares them"));
  const RunSource from_a = read_source(a, "a.json");
  const RunSource from_b = read_source(b, "b.json");
  EXPECT_THAT(to_text(from_a, from_b, compare_sources(from_a, from_b, true), {}),
              HasSubstr("note: the machines differ"));
  EXPECT_THAT(error_of(a + b, a), HasSubstr("its runs are of several machines"));
}

TEST(ComparedRuns, SayWhatIsWrongWithAFile) {
  const std::string good = lines_of(1, 1.0);
  EXPECT_EQ(error_of("", good), "cannot read a.json: it is empty");
  EXPECT_EQ(error_of(good.substr(0, 200), good),
            "cannot read a.json: its JSON is cut off or damaged");
  EXPECT_EQ(error_of(R"({"schema":"wattle.bench/2"})", good),
            "cannot read a.json: it has the schema wattle.bench/2, and this wattle reads "
            "wattle.bench/1; use the wattle that wrote it, or a newer one");
}

/// The same with `partial` of them without package 1.
std::string lines_without_package_1(int runs, int partial) {
  std::string lines;
  for (int i = 0; i < runs; ++i) {
    Report report = measured();
    if (i < partial) {
      report.energy.domains[1].figure.energy.reset();
      report.energy.total.energy = *report.energy.total.energy - Joules(80.5);
    }
    lines += to_json(report);
  }
  return lines;
}

TEST(ComparedRuns, LeaveOutEnergiesOfFewerDomains) {
  const RunSource a = read_source(lines_without_package_1(4, 0), "a.json");
  const RunSource b = read_source(lines_without_package_1(4, 1), "b.json");
  const auto all = compare_sources(a, b, false);
  ASSERT_EQ(all[0].comparisons.front().cost, Cost::energy);
  EXPECT_DOUBLE_EQ(all[0].comparisons.front().ratio->estimate, 0.0);
  EXPECT_THAT(
      to_text(a, b, all, {}),
      HasSubstr("note: b.json: the energy of 1 of 4 runs is in no figure: package_1 was not "
                "measured in it"));
}

TEST(ComparedRuns, DoNotCompareEnergiesOfOtherDomains) {
  const RunSource a = read_source(lines_without_package_1(3, 0), "a.json");
  const RunSource b = read_source(lines_without_package_1(3, 3), "b.json");
  const auto all = compare_sources(a, b, false);
  EXPECT_EQ(all[0].comparisons.front().cost, Cost::time) << "no energy";
  EXPECT_EQ(std::ranges::count(all[0].comparisons, Cost::power, &Comparison::cost), 0);
  const std::vector<std::string> notes = notes_on(a, b, all);
  EXPECT_THAT(notes, testing::Contains(HasSubstr("b.json: the energy of 3 of 3 runs is in no")));
  EXPECT_THAT(notes, testing::Contains(HasSubstr("no comparison of energy")));
}

TEST(ComparedRuns, SayWhichEnergiesAreLowerBounds) {
  std::string lines;
  for (int i = 0; i < 3; ++i) {
    Report report = measured();
    report.energy.total.unknown = Seconds(i == 0 ? 0.5 : 0.0);
    lines += to_json(report);
  }
  const RunSource source = read_source(lines, "a.json");
  EXPECT_THAT(notes_on(source, source, compare_sources(source, source, false)),
              testing::Contains("a.json: the energy of 1 of 3 runs is a lower bound: a part of the "
                                "time is unknown"));
}

/// `runs` runs with 2 s of time, of which the energy of `unknown_s` is unknown.
std::string lines_of_bounds(int runs, double energy_j, double unknown_s) {
  std::string lines;
  for (int i = 0; i < runs; ++i) {
    Report report = measured();
    report.energy.total.energy = Joules(energy_j + 0.001 * i);
    report.energy.total.uncertainty = Joules(0.001);
    report.energy.total.unknown = Seconds(unknown_s);
    lines += to_json(report);
  }
  return lines;
}

TEST(ComparedRuns, DoNotCompareLowerBounds) {
  const RunSource a = read_source(lines_of_bounds(3, 500.0, 0.0), "a.json");
  const RunSource b = read_source(lines_of_bounds(3, 250.0, 1.0), "b.json");
  const auto all = compare_sources(a, b, false);
  for (const Cost cost : {Cost::energy, Cost::power}) {
    EXPECT_EQ(std::ranges::count(all[0].comparisons, cost, &Comparison::cost), 0);
  }
  EXPECT_THAT(notes_on(a, b, all),
              testing::Contains("b.json: the energy of 3 of 3 runs is in no figure: more than 10 % "
                                "of the time is unknown"));
}

TEST(ComparedRuns, AllowForAShortUnknownTime) {
  const RunSource a = read_source(lines_of_bounds(3, 500.0, 0.0), "a.json");
  const RunSource b = read_source(lines_of_bounds(3, 495.0, 0.018), "b.json");
  const auto all = compare_sources(a, b, false);
  ASSERT_EQ(all[0].comparisons.front().cost, Cost::energy);
  const LogRatio& ratio = *all[0].comparisons.front().ratio;
  EXPECT_NEAR(change_of(ratio.interval->low), -0.01, 0.001);
  EXPECT_GT(change_of(ratio.interval->high), 0.005) << "it may have used as much";
  EXPECT_FALSE(ratio.is_shown());
}

TEST(ComparedRuns, CountOutliersAmongTheRunsOfBothSides) {
  std::string lines = lines_of(6, 1.0);
  const RunSource few = read_source(lines_of(3, 1.0), "few");
  lines += lines_of(1, 9.0);
  const RunSource many = read_source(lines, "many");
  const auto all = compare_sources(few, many, false);
  EXPECT_EQ(all[0].comparisons.front().ratio->outliers, 1U);
  EXPECT_THAT(to_text(few, many, all, {}), HasSubstr("1 of 10 runs is far from the others"));
}

/// Runs with these times, one after the other.
std::string runs_of(const std::vector<double>& times_s, double start_s) {
  std::string lines;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    Report report = measured();
    report.wall = Seconds(times_s[i]);
    report.started_unix_s = start_s + 10.0 * static_cast<double>(i);
    lines += to_json(report);
  }
  return lines;
}

const Comparison& of_time(const std::vector<ComparedRuns>& all) {
  return *std::ranges::find(all[0].comparisons, Cost::time, &Comparison::cost);
}

TEST(ComparedRuns, ClaimNothingWhereTheMachineDrifts) {
  // Each run takes 2 % more than the one before, and B 10 % less than A would.
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 10; ++i) a.push_back(std::pow(1.02, i));
  for (int i = 10; i < 20; ++i) b.push_back(0.9 * std::pow(1.02, i));
  // Their order in the file does not matter.
  std::string lines = runs_of(b, 1'100.0);
  const RunSource source_a = read_source(runs_of(a, 1'000.0), "a");
  const RunSource source_b = read_source(lines, "b");
  const auto all = compare_sources(source_a, source_b, false);
  EXPECT_FALSE(of_time(all).ratio->interval);
  EXPECT_THAT(to_text(source_a, source_b, all, {}),
              HasSubstr("a and b: nothing is claimed about time: runs change by +19.5 % from the "
                        "first to the last, which may be the machine; let the commands take turns: "
                        "wattle bench"));
}

TEST(ComparedRuns, ClaimNothingWhereRunsResembleThoseBeforeThem) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 40; ++i) {
    a.push_back(1.0 + 0.1 * std::sin(0.4 * i));
    b.push_back(1.2 + 0.1 * std::cos(0.4 * i));
  }
  const RunSource source_a = read_source(runs_of(a, 1'000.0), "a");
  const RunSource source_b = read_source(runs_of(b, 2'000.0), "b");
  const auto all = compare_sources(source_a, source_b, false);
  EXPECT_THAT(of_time(all).doubt, HasSubstr("each run resembles the one before it"));
  EXPECT_FALSE(of_time(all).ratio->is_shown());
}

TEST(ComparedRuns, SayWhereRunsAreOfTwoKindsAndWhatFewRunsCanMiss) {
  const RunSource a =
      read_source(runs_of({1.0, 1.31, 1.01, 1.3, 1.0, 1.32, 1.3, 1.01, 1.0, 1.31}, 1'000.0), "a");
  const RunSource b =
      read_source(runs_of({1.0, 1.01, 1.02, 1.0, 1.03, 1.01, 1.0, 1.02, 1.01, 1.0}, 2'000.0), "b");
  const auto notes = notes_on(a, b, compare_sources(a, b, false));
  EXPECT_THAT(notes, testing::Contains("a: time of about 1.004 s in 5 runs and of about 1.308 s in "
                                       "5: what is claimed is the mean of this mix"));
  EXPECT_THAT(notes, testing::Contains("10 runs of each can miss a kind of run that is rarer than "
                                       "26 %, such as a slow one now and then"));
}

TEST(ComparedRuns, SayThatFewRunsWithoutTurnsCanMissADrift) {
  const std::vector<double> times = {1.0, 1.02, 1.01, 1.03, 1.02, 1.0, 1.01, 1.0, 1.02, 1.01};
  const auto notes_of = [](const std::vector<double>& of_each) {
    const RunSource a = read_source(runs_of(of_each, 1'000.0), "a");
    const RunSource b = read_source(runs_of(of_each, 2'000.0), "b");
    return notes_on(a, b, compare_sources(a, b, false));
  };
  const auto is_said = testing::Contains(
      HasSubstr("runs of each that did not take turns can miss a drift of the machine"));
  EXPECT_THAT(notes_of({1.0, 1.02, 1.01}), is_said);
  EXPECT_THAT(notes_of(times), testing::Not(is_said)) << "ten runs of each show a drift";
}

TEST(ComparedRuns, SayWhatTheClaimIsAboutWhereShapesDiffer) {
  const RunSource a =
      read_source(runs_of({1.0, 1.01, 1.02, 1.0, 1.03, 1.01, 1.0, 1.02, 1.01, 1.0}, 1'000.0), "a");
  const RunSource b =
      read_source(runs_of({0.9, 1.5, 0.91, 0.9, 0.92, 1.51, 0.9, 0.91, 0.9, 0.92}, 2'000.0), "b");
  EXPECT_THAT(
      notes_on(a, b, compare_sources(a, b, false)),
      testing::Contains("the runs of a and b are spread differently: the claim about time is "
                        "about their means; their medians differ by -9.9 %"));
}

TEST(ComparedRuns, KeepWhatComesBackInEachRun) {
  Report report = measured();
  report.energy.total.uncertainty = Joules(5.0);
  report.energy.total.common = Joules(-4.0);
  const std::string lines = to_json(report) + to_json(report) + to_json(report);
  report.wall *= 2.0;
  report.energy.total.energy = *report.energy.total.energy * 2.0;
  const RunSource a = read_source(lines, "a");
  const RunSource b = read_source(to_json(report) + to_json(report) + to_json(report), "b");
  EXPECT_EQ(a.commands[0].runs[0].common, Joules(-4.0));
  const auto unlike = compare_sources(a, b, false);
  const double energy_j = a.commands[0].runs[0].energy->si();
  EXPECT_NEAR(unlike[0].comparisons.front().ratio->common, 4.0 / energy_j - 2.0 / energy_j, 1e-9);
  EXPECT_DOUBLE_EQ(compare_sources(a, a, false)[0].comparisons.front().ratio->common, 0.0);
}

TEST(ComparedRuns, OfWhichSomePeakMemoryIsTooSmallToBeKnownDoNotCompareIt) {
  std::string lines;
  for (int i = 0; i < 3; ++i) {
    Report report = measured();
    if (i == 0) report.usage.peak_rss_bytes.reset();
    lines += to_json(report);
  }
  const RunSource source = read_source(lines, "a.json");
  const auto all = compare_sources(source, source, false);
  EXPECT_EQ(std::ranges::count(all[0].comparisons, Cost::memory, &Comparison::cost), 0);
}

struct RankFacts {
  std::string host = "n1";
  unsigned rank = 0;
  bool measures = true;  ///< else another rank of its machine does
  double wall_s = 10.0;
  double energy_j = 500.0;
};

Report rank_of(const std::string& job, const RankFacts& facts) {
  Report report = measured();
  report.host.name = facts.host;
  report.started_unix_s = 1000.0 + 0.1 * facts.rank;
  report.wall = Seconds(facts.wall_s);
  report.ended_unix_s = report.started_unix_s + facts.wall_s;
  report.slurm.reset();
  if (!job.empty()) report.slurm = SlurmJob{.job_id = job};
  report.mpi = Rank{.rank = facts.rank, .size = 3};
  report.usage.cpu_user = Seconds(8.0);
  report.usage.cpu_system = Seconds(1.0);
  report.energy.total.energy = Joules(facts.energy_j);
  if (!facts.measures) {
    report.energy.left_out = "rank 0 of this machine measures it";
    report.energy.total = {};
    report.energy.domains.clear();
  }
  return report;
}

std::string job_of(const std::string& id, double factor, const std::string& second = "n1") {
  const bool is_one_node = second == "n1";
  return to_json(rank_of(id, {.wall_s = 10.0 * factor, .energy_j = 500.0 * factor})) +
         to_json(rank_of(id, {.host = second,
                              .rank = 1,
                              .measures = !is_one_node,
                              .wall_s = 8.0 * factor,
                              .energy_j = 400.0 * factor}));
}

TEST(ComparedRuns, OfTheRanksOfAJobAreOneRun) {
  const RunSource a = read_source(job_of("1", 1.0), "job-1.jsonl");
  const RunSource b = read_source(job_of("2", 1.5), "job-2.jsonl");
  ASSERT_THAT(a.commands, SizeIs(1));
  ASSERT_THAT(a.commands[0].runs, SizeIs(1));
  const RunCost& job = a.commands[0].runs[0];
  EXPECT_NEAR(job.wall.count(), 10.0, 1e-6) << "of the job, not of a rank";
  EXPECT_EQ(job.energy, Joules(500.0));
  EXPECT_NEAR((*job.cpu_user + *job.cpu_system).count(), 18.0, 1e-9) << "of both ranks";
  const auto all = compare_sources(a, b, false);
  ASSERT_THAT(all, SizeIs(1));
  for (const Comparison& one : all[0].comparisons) {
    if (one.cost == Cost::energy || one.cost == Cost::time) {
      EXPECT_NEAR(change_of(one.ratio->estimate), 0.5, 1e-6) << name_of(one.cost);
    }
  }
}

TEST(ComparedRuns, OfAJobCountTheEnergyOfEachNode) {
  const RunSource a = read_source(job_of("1", 1.0, "n2"), "a");
  const RunSource b = read_source(job_of("2", 1.0, "n3"), "b");
  EXPECT_EQ(a.commands[0].runs[0].energy, Joules(900.0));
  EXPECT_THAT(to_text(a, b, compare_sources(a, b, false), {}),
              HasSubstr("note: the machines differ"));
}

TEST(ComparedRuns, OfMpiRanksWithoutAJobAreThoseThatOverlap) {
  std::string lines = job_of("", 1.0);
  for (unsigned rank = 0; rank < 2; ++rank) {
    Report again = rank_of("", {.rank = rank, .measures = rank == 0});
    again.started_unix_s += 100.0;
    again.ended_unix_s += 100.0;
    lines += to_json(again);
  }
  EXPECT_THAT(read_source(lines, "a").commands.front().runs, SizeIs(2));
}

TEST(ComparedRuns, OfAJobNameTheRanksWithoutARecord) {
  const std::string lines = to_json(rank_of("7", {})) + to_json(rank_of("7", {.rank = 2}));
  const RunSource source = read_source(lines, "a");
  EXPECT_THAT(notes_on(source, source, compare_sources(source, source, false)),
              testing::Contains("a: job 7: ranks without a record: 1"));
}

TEST(ComparedRuns, OfAJobThatRepeatsACommandAreAllOfThem) {
  std::string lines;
  for (int i = 0; i < 3; ++i) {
    Report report = measured();
    report.slurm = SlurmJob{.job_id = "7"};
    report.mpi = Rank{.rank = 0, .size = 1};
    lines += to_json(report);
  }
  EXPECT_THAT(read_source(lines, "a").commands.front().runs, SizeIs(3));
}

TEST(ComparedRuns, MayBeLinesOfAnExportedHistory) {
  std::string record = lines_of(1, 1.0);
  record.pop_back();
  const std::string line = R"({"schema":"wattle.saved/1","id":"abcdefgh","record":)" + record + "}";
  EXPECT_THAT(read_source(line + "\n" + line, "a").commands.front().runs, SizeIs(2));
}

TEST(ComparedRuns, WithoutEnergySaySo) {
  std::string lines;
  for (int i = 0; i < 3; ++i) lines += to_json(without_sensors());
  const RunSource source = read_source(lines, "a.json");
  const auto all = compare_sources(source, source, false);
  EXPECT_NE(all[0].comparisons.front().cost, Cost::energy);
  EXPECT_THAT(to_text(source, source, all, {}), HasSubstr("no comparison of energy"));
}

TEST(ComparedRuns, OfTwoCommandsSayThatTheyDiffer) {
  RunSource a = read_source(lines_of(6, 1.0), "a.json");
  const RunSource b = a;
  constexpr auto kDiffer = "the commands differ";
  EXPECT_THAT(notes_on(a, b, compare_sources(a, b, false)),
              testing::Not(testing::Contains(HasSubstr(kDiffer))));
  a.commands.front().name = "another";
  EXPECT_THAT(notes_on(a, b, compare_sources(a, b, false)),
              testing::Contains(testing::StartsWith("the commands differ: another, and ")));
}

}  // namespace
}  // namespace wattle
