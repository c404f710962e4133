// In a batch job or under MPI one rank a machine measures the energy.
#include <sstream>

#include "command.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class JobTest : public CommandTest {
 protected:
  JobTest() { tree_.add_zone("intel-rapl:0", "package-0"); }

  [[nodiscard]] Words roots() const {
    return {"--sysfs", tree_.system().sysfs, "--procfs", tree_.system().procfs};
  }
  [[nodiscard]] Json run_in(const Environment& environment, const Words& options = {}) const {
    const auto [outcome, json] =
        measure_in({.environment = environment}, roots() + options, child({"exit", "7"}));
    EXPECT_EQ(outcome.code(), 7);
    return json;
  }
  /// True if the run measured energy; else it says why not.
  [[nodiscard]] bool measures(const Environment& environment, const Words& options = {}) const {
    const Json energy = run_in(environment, options)["energy"];
    const bool has_energy = !energy["domains"].empty();
    EXPECT_EQ(energy["left_out"].is_null(), has_energy);
    return has_energy;
  }

  fakes::PowercapTree tree_;
};

TEST_F(JobTest, RankZeroOfTheMachineMeasures) {
  EXPECT_TRUE(measures({{"SLURM_LOCALID", "0"}, {"SLURM_PROCID", "8"}}));
  EXPECT_TRUE(measures({{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}));
  EXPECT_TRUE(measures({}));
}

TEST_F(JobTest, OtherRanksLeaveItOut) {
  for (const char* variable :
       {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
        "PALS_LOCAL_RANKID", "MPI_LOCALRANKID"}) {
    EXPECT_FALSE(measures({{variable, "1"}})) << variable;
  }
}

TEST_F(JobTest, EveryRankMeasuresWhereThatIsAskedFor) {
  EXPECT_TRUE(measures({{"SLURM_LOCALID", "3"}}, {"--every-rank"}));
}

TEST_F(JobTest, MpiIsAskedBeforeSlurm) {
  // mpirun inside of a batch script: every rank inherits the script's own numbers.
  EXPECT_FALSE(measures({{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}}));
}

TEST_F(JobTest, NonsenseInTheVariablesIsNoRank) {
  EXPECT_TRUE(measures({{"SLURM_LOCALID", "one"}}));
  EXPECT_TRUE(measures({{"SLURM_LOCALID", ""}}));
}

TEST_F(JobTest, ReportSaysThatAndWhoMeasures) {
  Start start = wattle_run(roots(), {"true"});
  start.environment = {{"SLURM_LOCALID", "1"}};
  const Outcome outcome = run(start);
  EXPECT_THAT(outcome.err,
              testing::StartsWith("no energy: rank 0 of this machine measures it; this is local "
                                  "rank 1 (--every-rank measures in all)\n"));
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_F(JobTest, JsonOfOtherRanksHasNoTotal) {
  const Json energy = run_in({{"SLURM_LOCALID", "1"}})["energy"];
  EXPECT_THAT(energy["left_out"], HasSubstr("rank 0"));
  EXPECT_TRUE(energy["total_j"].is_null());
  EXPECT_THAT(energy["total_covers"], IsEmpty());
}

TEST_F(JobTest, RanksThatNameOneFileAreRefusedBeforeTheCommandStarts) {
  for (const char* option : {"-o", "--json", "--series"}) {
    for (const char* rank : {"0", "3"}) {
      Start start = wattle_run(roots() + Words{option, path("run-%h")}, {"touch", path("trace")});
      start.environment = {{"OMPI_COMM_WORLD_RANK", rank},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", rank},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
      const Outcome outcome = run(start);
      EXPECT_EQ(outcome.code(), kFailed);
      EXPECT_THAT(outcome.err,
                  HasSubstr(std::string(option) + " names one file for several ranks"));
      EXPECT_THAT(outcome.err, HasSubstr("%r"));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path("trace")));
}

TEST_F(JobTest, RanksMayAppendToOneFile) {
  for (const char* rank : {"0", "1"}) {
    Start start =
        wattle_run(roots() + Words{"-q", "--append", "--json", path("runs.jsonl")}, {"true"});
    start.environment = {{"OMPI_COMM_WORLD_RANK", rank}, {"OMPI_COMM_WORLD_LOCAL_RANK", rank}};
    EXPECT_EQ(run(start).code(), 0);
  }
  const std::string lines = content_of(path("runs.jsonl"));
  const std::size_t end = lines.find('\n') + 1;
  EXPECT_EQ(parse_json(lines.substr(0, end))["mpi"]["rank"], 0);
  EXPECT_EQ(parse_json(lines.substr(end))["mpi"]["rank"], 1);
}

TEST_F(JobTest, CompareComparesWhatReportSaysOfEachJob) {
  const auto job = [&](const std::string& id, const std::string& watts) {
    std::string file = path("job-" + id + ".jsonl");
    std::ostringstream tick;
    tick.precision(17);
    tick << fakes::kPackageUnit.tick_j;
    for (const char* rank : {"0", "1"}) {
      tree_.write_file("intel-rapl:0", "energy_uj", "0\n");  // where the player starts
      Start start = wattle_run(roots() + Words{"-q", "--every-rank", "--append", "--json", file},
                               {player_program(), "300", tree_.zone_path("intel-rapl:0"), watts,
                                tick.str(), std::to_string(fakes::kPackageUnit.nanojoules), "0"});
      start.environment = {{"SLURM_JOB_ID", id}, {"SLURM_PROCID", rank}, {"SLURM_LOCALID", rank}};
      EXPECT_EQ(run(start).code(), 0);
    }
    return file;
  };
  const auto said_of = [&](const std::string& file) {
    return parse_json(run(wattle({"report", "--json", file})).out)["reports"].at(0);
  };
  const std::string a = job("1", "40");
  const std::string b = job("2", "80");
  const Json before = said_of(a);
  const Json after = said_of(b);
  const Json compared = parse_json(run(wattle({"compare", "--json", a, b})).out);
  const auto change_of = [&](const char* quantity) -> double {
    for (const Json& one : compared["comparisons"]) {
      if (one["quantity"] == quantity) return one["change_percent"];
    }
    ADD_FAILURE() << quantity << " is not in " << compared;
    return 0.0;
  };
  const auto percent = [](double from, double to) { return 100.0 * (to / from - 1.0); };
  const auto time_of = [](const Json& said) {
    return said["ended_unix_s"].get<double>() - said["started_unix_s"].get<double>();
  };
  EXPECT_GT(after["energy_j"], 1.5 * before["energy_j"].get<double>()) << before << after;
  EXPECT_EQ(before["nodes"].at(0)["runs"], 2) << before;
  EXPECT_NEAR(change_of("energy_j"), percent(before["energy_j"], after["energy_j"]), 1e-6);
  EXPECT_NEAR(change_of("cpu_s"), percent(before["cpu_s"], after["cpu_s"]), 1e-6);
  EXPECT_NEAR(change_of("wall_s"), percent(time_of(before), time_of(after)), 1e-3);
}

TEST_F(JobTest, JsonNamesTheRankOfOpenMpi) {
  EXPECT_EQ(run_in({{"OMPI_COMM_WORLD_RANK", "5"},
                    {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                    {"OMPI_COMM_WORLD_SIZE", "8"},
                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}})["mpi"],
            (Json{{"rank", 5}, {"local_rank", 0}, {"size", 8}, {"local_size", 1}}));
  EXPECT_TRUE(run_in({})["mpi"].is_null());
}

TEST_F(JobTest, JsonNamesTheSlurmJob) {
  EXPECT_EQ(run_in({{"SLURM_JOB_ID", "4711"},
                    {"SLURM_STEP_ID", "2"},
                    {"SLURM_PROCID", "8"},
                    {"SLURM_LOCALID", "0"}})["slurm"],
            (Json{{"job_id", "4711"},
                  {"step_id", "2"},
                  {"rank", "8"},
                  {"local_rank", "0"},
                  {"gpus", nullptr},
                  {"tasks", nullptr}}));
  EXPECT_TRUE(run_in({})["slurm"].is_null());
}

}  // namespace
}  // namespace wattle::integration
