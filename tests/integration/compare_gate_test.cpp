// `wattle compare --fail-above` where runs are no result: measured in part, ranks missing, failed.
#include <fstream>
#include <functional>

#include "command.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kWallS = 100.0;

class CompareGate : public CommandTest {
 protected:
  CompareGate() {
    tree_.add_zone("intel-rapl:0", "package-0");
    const auto [outcome, json] =
        measure_in({}, {"--sysfs", tree_.system().sysfs, "--procfs", tree_.system().procfs},
                   child({"exit", "0"}));
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    record_ = json;
  }

  /// A run with these energies. `unknown_s`: the part of the time that is in none.
  [[nodiscard]] Json run_with(double energy_j, double unknown_s = 0.0) const {
    Json record = record_;
    record["wall_s"] = kWallS;
    record["energy"]["total_j"] = energy_j;
    record["energy"]["total_uncertainty_j"] = 0.001;
    record["energy"]["total_unknown_s"] = unknown_s;
    record["energy"]["domains"][0]["energy_j"] = energy_j;
    record["resource_usage"]["cpu_user_s"] = energy_j;
    record["resource_usage"]["cpu_system_s"] = 0.0;
    return record;
  }
  /// Runs around these energies, one after the other.
  [[nodiscard]] std::vector<Json> runs_with(double energy_j, double unknown_s = 0.0) const {
    std::vector<Json> runs;
    for (const double part : {0.999, 1.0, 1.001}) {
      runs.push_back(run_with(energy_j * part, unknown_s));
    }
    return runs;
  }
  /// Two jobs whose ranks have these exit statuses; -1: the record is missing.
  [[nodiscard]] std::vector<Json> jobs_with(const std::vector<int>& ranks) const {
    std::vector<Json> records;
    for (const int job : {1, 2}) {
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (ranks[rank] < 0) continue;
        Json record = run_with(500.0 + job);
        record["started_unix_s"] = 1000.0 * job;
        record["ended_unix_s"] = 1000.0 * job + kWallS;
        record["slurm"] = {{"job_id", std::to_string(job)}};
        record["mpi"] = {{"rank", rank}, {"size", ranks.size()}};
        record["exit"]["code"] = ranks[rank];
        records.push_back(std::move(record));
      }
    }
    return records;
  }
  [[nodiscard]] Outcome compared(const std::vector<Json>& before, const std::vector<Json>& after,
                                 const Words& options) const {
    const auto file = [&](const char* name, const std::vector<Json>& records) {
      std::ofstream out(path(name));
      for (const Json& record : records) out << record.dump() << "\n";
      return path(name).string();
    };
    return run(wattle(Words{"compare", file("before", before), file("after", after)} + options));
  }

 private:
  fakes::PowercapTree tree_;
  Json record_;
};

const Words kLimit = {"--fail-above", "5%"};

TEST_F(CompareGate, DoesNotPassByALowerBound) {
  const Outcome outcome = compared(runs_with(500.0), runs_with(250.0, kWallS / 2.0), kLimit);
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("3 of 3 runs of " + path("after").string() +
                                     " have an unknown energy for a part of the time; measure"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("less energy")));
  EXPECT_THAT(outcome.out, HasSubstr("the energy of 3 of 3 runs is in no figure"));
}

TEST_F(CompareGate, DoesNotPassWhereOneRunIsALowerBound) {
  std::vector<Json> after = runs_with(500.0);
  after.push_back(run_with(250.0, kWallS / 2.0));
  const Outcome outcome = compared(runs_with(500.0), after, kLimit);
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("1 of 4 runs of"));
}

TEST_F(CompareGate, DoesNotFailByALowerBoundOfA) {
  EXPECT_EQ(compared(runs_with(250.0, kWallS / 2.0), runs_with(500.0), kLimit).code(), 2);
}

TEST_F(CompareGate, FailsWhereALowerBoundIsAboveTheLimit) {
  const Outcome outcome = compared(runs_with(500.0), runs_with(600.0, kWallS / 2.0), kLimit);
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("by the known part of its energy alone"));
}

TEST_F(CompareGate, DecidesWhereTheUnknownTimeIsTooShortToMatter) {
  const std::vector<Json> before = runs_with(500.0);
  EXPECT_EQ(compared(before, runs_with(500.0, 0.1), kLimit).code(), 0);
  EXPECT_EQ(compared(before, runs_with(600.0, 0.1), kLimit).code(), 1);
  const Outcome close = compared(before, runs_with(522.0, 0.9), kLimit);
  EXPECT_EQ(close.code(), 2);
  EXPECT_THAT(close.err, HasSubstr("the energy is unknown for a part of the time, which may"));
}

TEST_F(CompareGate, AsksForTheUnknownTimeOnlyWhereItIsAboutEnergy) {
  const Words cpu = kLimit + Words{"--quantity", "cpu"};
  EXPECT_EQ(compared(runs_with(500.0), runs_with(500.0, kWallS / 2.0), cpu).code(), 0);
}

TEST_F(CompareGate, DoesNotPassWhereRanksAreMissing) {
  const Words cpu = kLimit + Words{"--quantity", "cpu"};
  const Outcome outcome = compared(jobs_with({0, 0}), jobs_with({0, -1}), cpu);
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("2 of 2 runs of " + path("after").string() +
                                     " lack ranks of their job; compare the records of all"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("less CPU time")));
  EXPECT_THAT(outcome.out, HasSubstr("2 of 2 runs lack ranks of their job, and are in no figure"));
  // Of three, as records of one job.
  EXPECT_EQ(compared(jobs_with({0, 0, 0}), jobs_with({0, -1, 0}), cpu).code(), 2);
  EXPECT_EQ(compared(jobs_with({0, 0, 0}), jobs_with({0, 0, 0}), cpu).code(), 0);
}

TEST_F(CompareGate, MayCompareTheSameRankOfEachJob) {
  const Words cpu = kLimit + Words{"--quantity", "cpu"};
  EXPECT_EQ(compared(jobs_with({0, -1}), jobs_with({0, -1}), cpu).code(), 0);
}

TEST_F(CompareGate, LooksAtTheStatusOfEachRank) {
  const std::vector<Json> good = jobs_with({0, 0});
  for (const std::vector<int>& ranks : {std::vector{3, 4}, {4, 3}}) {
    const Outcome outcome = compared(good, jobs_with(ranks), kLimit + Words{"--ignore-failure=3"});
    EXPECT_EQ(outcome.code(), 2);
    EXPECT_THAT(outcome.err, HasSubstr("2 of 2 runs of"));
  }
  EXPECT_EQ(compared(good, jobs_with({3, 4}), kLimit + Words{"--ignore-failure=3,4"}).code(), 0);
}

}  // namespace
}  // namespace wattle::integration
