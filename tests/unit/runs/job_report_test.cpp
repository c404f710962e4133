#include "runs/job_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/text_style.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

struct RunFacts {
  std::string host = "n1";
  std::string job = "77";
  std::optional<unsigned> rank{};
  double begin_s = 1000.0;
  double length_s = 10.0;
  std::optional<double> energy_j = 100.0;
  std::string left_out{};
};

NamedRecord run_of(const RunFacts& facts, const std::string& name = "run.json") {
  Report record;
  record.command = {"solver"};
  record.host.name = facts.host;
  record.started_unix_s = facts.begin_s;
  record.ended_unix_s = facts.begin_s + facts.length_s;
  record.wall = Seconds(facts.length_s);
  if (!facts.job.empty()) record.slurm = SlurmJob{.job_id = facts.job};
  if (facts.rank) record.mpi = Rank{.rank = facts.rank, .size = 4};
  record.energy.left_out = facts.left_out;
  if (facts.energy_j) {
    record.energy.total = {.energy = Joules(*facts.energy_j),
                           .uncertainty = Joules(3.0),
                           .common = Joules(3.0),
                           .covers = {"cpu"},
                           .missing = {{.subject = "dram", .reason = "no counter"}}};
  }
  record.usage.cpu_user = Seconds(4.0);
  record.usage.cpu_system = Seconds(1.0);
  record.usage.peak_rss_bytes = 1000;
  return {name, record};
}

RunFacts rank(unsigned number, const std::string& host, bool measures) {
  RunFacts facts{.host = host, .rank = number};
  if (!measures) {
    facts.energy_j.reset();
    facts.left_out = "rank 0 of this machine measures it";
  }
  return facts;
}

TEST(JobReport, CountsTheEnergyOfEachMachineOnce) {
  const auto reports = job_reports({run_of(rank(0, "n1", true)), run_of(rank(1, "n1", false)),
                                    run_of(rank(2, "n2", true)), run_of(rank(3, "n2", false))});
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].energy, Joules(200.0));
  EXPECT_NEAR(reports[0].uncertainty.si(), 6.0, 1e-9) << "all of it may come back";
  EXPECT_EQ(reports[0].cpu, Seconds(20.0)) << "of all ranks";
  EXPECT_THAT(reports[0].missing_ranks, IsEmpty());
  EXPECT_THAT(reports[0].notes, IsEmpty());
  const std::string text = to_text(reports, {});
  EXPECT_THAT(text, StartsWith("job 77: 2 nodes, 4 ranks, 200.0 J ±6.0 J\n"));
  EXPECT_THAT(text, HasSubstr("n1, n2: no DRAM: no counter"));
}

TEST(JobReport, CountsGpusOnEachNodeForTheTimeInWhichItsRunsWentOn) {
  NamedRecord batch = run_of({.host = "n1", .length_s = 3600.0});
  NamedRecord step = run_of({.host = "n1", .begin_s = 1500.0, .length_s = 900.0});
  NamedRecord other = run_of({.host = "n2", .length_s = 1800.0});
  batch.record.slurm->gpus = 4;
  step.record.slurm->gpus = 4;
  other.record.slurm->gpus = 2;
  const auto reports = job_reports({batch, step, other});
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].gpu_time, Seconds(5.0 * 3600.0));
  EXPECT_THAT(to_brief_text(reports),
              AllOf(StartsWith("job 77: 200.0 J ±"), HasSubstr(", 5 GPU-hours\n")));
  EXPECT_EQ(nlohmann::json::parse(to_json(reports))["reports"][0]["gpu_hours"], 5.0);
}

TEST(JobReport, HasNoGpuHoursWithoutGpusAndNoneOfADamagedRecord) {
  NamedRecord damaged = run_of({});
  damaged.record.slurm->gpus = 4'000'000'000U;
  for (const NamedRecord& record : {run_of({}), damaged}) {
    const auto reports = job_reports({record});
    EXPECT_EQ(reports[0].gpu_time, std::nullopt);
    EXPECT_EQ(to_brief_text(reports), "job 77: 100.0 J ±3.0 J\n");
    EXPECT_TRUE(nlohmann::json::parse(to_json(reports))["reports"][0]["gpu_hours"].is_null());
  }
}

TEST(JobReport, HasItsFlagsInTheHeadlineAndTheBriefLine) {
  NamedRecord record = run_of({});
  record.record.energy.total.flags = Flags::of(Flag::partial_coverage);
  record.record.energy.total.flags.set(Flag::wrapped);  // nothing is lost by that
  const auto reports = job_reports({record});
  EXPECT_EQ(to_brief_text(reports), "job 77: 100.0 J ±3.0 J, partial_coverage\n");
  EXPECT_THAT(to_text(reports, {}), HasSubstr("100.0 J ±3.0 J, partial_coverage\n"));
  const auto json = nlohmann::json::parse(to_json(reports));
  EXPECT_EQ(json["reports"][0]["flags"], nlohmann::json({"wrapped", "partial_coverage"}));
}

TEST(JobReport, SaysBrieflyWhatIsUnknown) {
  EXPECT_EQ(to_brief_text(job_reports({run_of({.job = "", .energy_j = std::nullopt})})),
            "no job: energy unknown\n");
}

TEST(JobReport, AddsWhatComesBackInEachRunWithItsSign) {
  std::vector<NamedRecord> records;
  for (int i = 0; i < 4; ++i) {
    records.push_back(run_of({.host = "n1", .begin_s = 20.0 * i}));
    records.back().record.energy.total.common = Joules(-1.0);
  }
  const auto reports = job_reports(records);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_NEAR(reports[0].uncertainty.si(), std::sqrt(4.0 * 8.0 + 16.0), 1e-9);
}

TEST(JobReport, CountsRunsThatOverlapOnce) {
  // Each rank measured the machine by itself.
  const auto reports = job_reports(
      {run_of({.rank = 0, .length_s = 10.0, .energy_j = 100.0}, "/a/first.json"),
       run_of({.rank = 1, .begin_s = 1000.1, .length_s = 9.0, .energy_j = 90.0}, "second"),
       run_of({.host = "n2", .rank = 2}, "third")});
  EXPECT_EQ(reports[0].energy, Joules(200.0));
  EXPECT_THAT(reports[0].notes, ElementsAre(AllOf(HasSubstr("n1: 2 runs overlap in time"),
                                                  HasSubstr("once, from first.json"))));
  EXPECT_TRUE(reports[0].runs[0].is_counted);
  EXPECT_FALSE(reports[0].runs[1].is_counted);
}

NamedRecord with_units(NamedRecord run, const UnitTag& tag) {
  run.record.units = {.tags = {tag}};
  return run;
}

UnitTag tag_of(std::uint64_t count, double joules, double half, double work = 0.0) {
  const double mean = joules / static_cast<double>(count);
  UnitTag tag{.tag = "request",
              .count = count,
              .sum = Joules(joules),
              .work = work,
              .mean = EnergyInterval{Joules(mean), Joules(mean - half), Joules(mean + 2 * half)}};
  if (work > 0.0) {
    tag.per_work =
        EnergyInterval{Joules(joules / work), Joules(0.5 * joules / work), Joules(joules / work)};
  }
  return tag;
}

TEST(JobReport, JoinsTheUnitsOfRuns) {
  const auto reports =
      job_reports({with_units(run_of({.host = "n1"}), tag_of(10, 20.0, 0.1, 100.0)),
                   with_units(run_of({.host = "n2"}), tag_of(30, 100.0, 0.3, 300.0))});
  ASSERT_THAT(reports[0].units, SizeIs(1));
  const ReportedUnits& units = reports[0].units[0];
  EXPECT_EQ(units.count, 40U);
  EXPECT_EQ(units.sum, Joules(120.0));
  EXPECT_DOUBLE_EQ(units.mean->value.si(), 3.0);
  EXPECT_DOUBLE_EQ(units.mean->low.si(), 3.0 - 0.25);
  EXPECT_DOUBLE_EQ(units.mean->high.si(), 3.0 + 0.5);
  EXPECT_DOUBLE_EQ(units.per_work->value.si(), 0.3);
  EXPECT_THAT(to_text(reports, {}), HasSubstr("3.000 J (2.750 J to 3.500 J)"));
  const auto json = nlohmann::json::parse(to_json(reports))["reports"][0]["units"];
  EXPECT_EQ(json[0]["tag"], "request");
  EXPECT_EQ(json[0]["sum_j"], 120.0);
}

TEST(JobReport, HasNoIntervalWhereARunHasNone) {
  UnitTag vague = tag_of(10, 20.0, 0.1, 50.0);
  vague.per_work.reset();
  const auto reports = job_reports({with_units(run_of({.host = "n1"}), vague),
                                    with_units(run_of({.host = "n2"}), tag_of(1, 2.0, 0.1, 9.0))});
  EXPECT_TRUE(reports[0].units[0].mean);
  EXPECT_FALSE(reports[0].units[0].per_work);
}

TEST(JobReport, TakesUnitsOfCountedRunsAlone) {
  const auto reports = job_reports(
      {with_units(run_of({.length_s = 10.0}, "a"), tag_of(10, 20.0, 0.1)),
       with_units(run_of({.begin_s = 1000.1, .length_s = 9.0}, "b"), tag_of(5, 10.0, 0.1))});
  ASSERT_THAT(reports[0].units, SizeIs(1));
  EXPECT_EQ(reports[0].units[0].count, 10U);
}

TEST(JobReport, ChoosesRunsThatCoverTheLongestTime) {
  // 10 s, or 6 + 6 s around its middle.
  const auto reports =
      job_reports({run_of({.begin_s = 1000.0, .length_s = 6.0, .energy_j = 60.0}, "a"),
                   run_of({.begin_s = 1001.0, .length_s = 10.0, .energy_j = 100.0}, "b"),
                   run_of({.begin_s = 1006.0, .length_s = 6.0, .energy_j = 60.0}, "c")});
  EXPECT_EQ(reports[0].energy, Joules(120.0));
  EXPECT_EQ(reports[0].nodes[0].measured, Seconds(12.0));
  EXPECT_EQ(reports[0].nodes[0].unmeasured, Seconds(0.0));
}

TEST(JobReport, SaysThatAPartOfAKindIsMissing) {
  NamedRecord run = run_of({});
  run.record.energy.total.missing = {
      {.subject = "cpu", .reason = "package_1: its counter does not move"}};
  const auto reports = job_reports({run});
  EXPECT_TRUE(reports[0].nodes[0].is_lower_bound());
  EXPECT_THAT(to_text(reports, {}), AllOf(StartsWith("job 77: 1 node, 1 run, at least 100.0 J"),
                                          HasSubstr("not all of CPU: package_1")));
  EXPECT_THAT(to_json(reports), HasSubstr(R"("is_lower_bound":true,"cpu_s")"));
}

TEST(JobReport, CountsARunThatTookNoTime) {
  const auto reports = job_reports({run_of({.length_s = 0.0, .energy_j = 1.0})});
  EXPECT_EQ(reports[0].energy, Joules(1.0));
}

TEST(JobReport, SaysWhatItLeavesOut) {
  const auto reports = job_reports({run_of({.begin_s = 1000.0, .length_s = 10.0}, "a"),
                                    run_of({.begin_s = 1008.0, .length_s = 5.0}, "b")});
  EXPECT_EQ(reports[0].nodes[0].unmeasured, Seconds(3.0));
  EXPECT_THAT(to_text(reports, {}),
              AllOf(HasSubstr("at least 100"), HasSubstr("3.000 s not measured")));
}

TEST(JobReport, AddsUpRunsThatFollowEachOther) {
  const auto reports = job_reports(
      {run_of({.job = "", .begin_s = 1000.0}, "a"), run_of({.job = "", .begin_s = 1010.0}, "b")});
  EXPECT_EQ(reports[0].energy, Joules(200.0));
  EXPECT_THAT(to_text(reports, {}), StartsWith("1 machine, 2 runs, 200.0 J"));
}

TEST(JobReport, CountsARunThatIsGivenTwiceOnce) {
  const auto reports = job_reports({run_of({}, "a.json"), run_of({}, "b.json")});
  EXPECT_EQ(reports[0].energy, Joules(100.0));
  EXPECT_THAT(reports[0].notes,
              ElementsAre("a.json and b.json are the same run; it is counted once"));
}

TEST(JobReport, NamesRanksWithoutARecord) {
  const auto reports = job_reports({run_of(rank(0, "n1", true))});
  EXPECT_THAT(reports[0].missing_ranks, ElementsAre(1, 2, 3));
  EXPECT_THAT(to_text(reports, {}),
              AllOf(HasSubstr("at least 100"), HasSubstr("ranks without a record: 1 to 3")));
}

TEST(JobReport, OfASizeThatNoJobHasDoesNotCountTheRanks) {
  std::vector<NamedRecord> records = {run_of(rank(0, "n1", true))};
  records.front().record.mpi->size = 4'000'000'000U;
  const JobReport report = job_reports(records).front();
  EXPECT_FALSE(report.size);
  EXPECT_TRUE(report.missing_ranks.empty());
}

TEST(JobReport, SaysWhyAMachineHasNoEnergy) {
  const auto reports = job_reports({run_of(rank(0, "n1", true)), run_of(rank(3, "n2", false))});
  EXPECT_EQ(reports[0].nodes[1].energy, std::nullopt);
  EXPECT_THAT(to_text(reports, {}),
              HasSubstr("n2: no energy: the record of the rank that measured it is missing"));
}

TEST(JobReport, KeepsJobsApart) {
  const auto reports =
      job_reports({run_of({.job = ""}), run_of({.job = "8"}), run_of({.job = "7"})});
  ASSERT_THAT(reports, SizeIs(3));
  EXPECT_EQ(reports[0].job, "7");
  EXPECT_EQ(reports[2].job, "") << "those without a job last";
}

TEST(JobReport, AddsUpTheErrorOfSensorsOfOneModel) {
  NamedRecord first = run_of({}, "a");
  NamedRecord second = run_of({.host = "n2"}, "b");
  for (NamedRecord* run : {&first, &second}) {
    run->record.energy.domains = {
        {.domain = Domain::package(0),
         .source = "powercap",
         .figure = {.energy = Joules(100.0)},
         .calibration = SensorError{.percent = 5.0, .source = "compared with a meter"}}};
  }
  EXPECT_EQ(job_reports({first, second})[0].calibration, Joules(10.0));
  second.record.host.cpu = "another model";
  EXPECT_NEAR(job_reports({first, second})[0].calibration->si(), std::sqrt(50.0), 1e-9);
  second.record.energy.domains[0].calibration.reset();
  EXPECT_EQ(job_reports({first, second})[0].calibration, std::nullopt);
}

TEST(JobReport, IsJson) {
  const auto json =
      nlohmann::json::parse(to_json(job_reports({run_of(rank(1, "n1", true), "a.json")})));
  EXPECT_EQ(json["schema"], "wattle.report/1");
  const auto& report = json["reports"][0];
  EXPECT_EQ(report["job"], "77");
  EXPECT_EQ(report["missing_ranks"], (nlohmann::json{0, 2, 3}));
  EXPECT_EQ(report["nodes"][0]["energy_j"], 100.0);
  EXPECT_EQ(report["runs"][0]["name"], "a.json");
  EXPECT_EQ(report["runs"][0]["counted"], true);
  EXPECT_EQ(report["is_lower_bound"], true);
}

/// Runs one after the other, whose package has an energy.
std::vector<NamedRecord> runs_of_package(int count, bool is_observed) {
  std::vector<NamedRecord> runs;
  for (int i = 0; i < count; ++i) {
    NamedRecord run = run_of({.begin_s = 1000.0 + 20.0 * i});
    DomainFigure domain{.domain = Domain::package(0)};
    domain.figure.energy = Joules(100.0);
    domain.figure.update_is_observed = is_observed;
    run.record.energy.domains.push_back(std::move(domain));
    runs.push_back(std::move(run));
  }
  return runs;
}

TEST(JobReport, SaysWhereManyRunsStandOnWhatIsPublishedOfTheirCounters) {
  const std::string line =
      "n1: how often package_0 is renewed is published, not observed: the ± of 10 runs does "
      "not hold if a counter pauses; wattle sensors --measure observes it";
  const auto published = job_reports(runs_of_package(10, false));
  EXPECT_THAT(published[0].notes, testing::Contains(line));
  EXPECT_EQ(published[0].nodes[0].updates_are_observed, std::optional(false));
  EXPECT_THAT(to_json(published), HasSubstr("\"updates_are_observed\":false"));
  const auto observed = job_reports(runs_of_package(10, true));
  EXPECT_THAT(observed[0].notes, Not(testing::Contains(HasSubstr("not observed"))));
  EXPECT_EQ(observed[0].nodes[0].updates_are_observed, std::optional(true));
  EXPECT_THAT(job_reports(runs_of_package(9, false))[0].notes,
              Not(testing::Contains(HasSubstr("not observed"))))
      << "few runs";
  EXPECT_EQ(job_reports({run_of({})})[0].nodes[0].updates_are_observed, std::nullopt);
}

/// A run of a counter that nobody read after its end: up to 40 J of its 100 J came around the ends.
NamedRecord unseen_run(const std::string& host, double begin_s) {
  NamedRecord run = run_of({.host = host, .begin_s = begin_s}, host);
  run.record.energy.total.uncertainty = run.record.energy.total.common = Joules(30.0);
  run.record.energy.domains.push_back(
      {.domain = Domain::nvidia_gpu(0),
       .figure = {.energy = Joules(100.0), .mean = Watts(10.0), .update = Seconds(2.0)}});
  return run;
}

TEST(JobReport, FlagsRunsOfAMachineWhoseEndsWereNotSeen) {
  const auto one = job_reports({unseen_run("n1", 1000.0)});
  EXPECT_FALSE(one[0].nodes[0].flags.has(Flag::ends_unseen)) << "its ± has that";
  const auto two = job_reports({unseen_run("n1", 1000.0), unseen_run("n1", 2000.0)});
  EXPECT_TRUE(two[0].nodes[0].flags.has(Flag::ends_unseen));
  EXPECT_THAT(two[0].notes, ElementsAre(StartsWith("n1: the records do not say")));
}

TEST(JobReport, FlagsMachinesThatTogetherDidNotSeeTheEndsOfTheirRuns) {
  const auto job = job_reports({unseen_run("n1", 1000.0), unseen_run("n2", 1000.0)});
  EXPECT_TRUE(job[0].nodes[0].flags.has(Flag::ends_unseen));
  EXPECT_TRUE(job[0].nodes[1].flags.has(Flag::ends_unseen));
  EXPECT_THAT(job[0].notes, ElementsAre(StartsWith("all machines: the records do not say")));
}

}  // namespace
}  // namespace wattle
