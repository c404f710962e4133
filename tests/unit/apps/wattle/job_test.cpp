#include "run/job.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// The job that an environment of these variables tells.
Job job_of(const std::map<std::string, std::string>& variables) {
  return read_job([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
}

TEST(Job, IsNoneInAnOrdinaryShell) {
  const Job job = job_of({{"HOME", "/root"}});
  EXPECT_EQ(job.id, "");
  EXPECT_EQ(job.rank, std::nullopt);
  EXPECT_EQ(job.local_rank, std::nullopt);
  EXPECT_FALSE(job.slurm);
}

TEST(Job, OfSlurm) {
  const Job job = job_of({{"SLURM_JOB_ID", "4711"},
                          {"SLURM_STEP_ID", "2"},
                          {"SLURM_PROCID", "13"},
                          {"SLURM_LOCALID", "1"}});
  EXPECT_EQ(job.id, "4711");
  EXPECT_EQ(job.rank, 13U);
  EXPECT_EQ(job.local_rank, 1U);
  ASSERT_TRUE(job.slurm);
  EXPECT_EQ(job.slurm->job_id, "4711");
  EXPECT_EQ(job.slurm->step_id, "2");
  EXPECT_EQ(job.slurm->rank, "13");
  EXPECT_EQ(job.slurm->local_rank, "1");
}

TEST(Job, OfOtherBatchSystems) {
  EXPECT_EQ(job_of({{"PBS_JOBID", "12.server"}}).id, "12.server");
  EXPECT_EQ(job_of({{"LSB_JOBID", "77"}}).id, "77");
  EXPECT_FALSE(job_of({{"PBS_JOBID", "12.server"}}).slurm);
}

TEST(Job, RanksOfEveryLauncher) {
  using Names = std::pair<const char*, const char*>;
  for (const auto& [rank, local] :
       {Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
        Names{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK"},
        Names{"PALS_RANKID", "PALS_LOCAL_RANKID"}, Names{"PMI_RANK", "MPI_LOCALRANKID"},
        Names{"SLURM_PROCID", "SLURM_LOCALID"}}) {
    const Job job = job_of({{rank, "9"}, {local, "3"}});
    EXPECT_EQ(job.rank, 9U) << rank;
    EXPECT_EQ(job.local_rank, 3U) << local;
  }
}

TEST(Job, SizesOfEveryLauncher) {
  using Names = std::pair<const char*, const char*>;
  for (const auto& [size, local] : {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                    Names{"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
                                    Names{"PMI_SIZE", "MPI_LOCALNRANKS"}}) {
    const Job job = job_of({{size, "8"}, {local, "4"}});
    EXPECT_EQ(job.size, 8U) << size;
    EXPECT_EQ(job.local_size, 4U) << local;
  }
}

TEST(Job, SizeOfASlurmStepOnEachOfItsMachines) {
  const auto on = [](const char* machine, const char* tasks) {
    return job_of({{"SLURM_STEP_NUM_TASKS", "11"},
                   {"SLURM_NODEID", machine},
                   {"SLURM_STEP_TASKS_PER_NODE", tasks}});
  };
  EXPECT_EQ(on("0", "4(x2),3").size, 11U);
  EXPECT_EQ(on("0", "4(x2),3").local_size, 4U);
  EXPECT_EQ(on("1", "4(x2),3").local_size, 4U);
  EXPECT_EQ(on("2", "4(x2),3").local_size, 3U);
  EXPECT_EQ(on("3", "4(x2),3").local_size, std::nullopt);
  EXPECT_EQ(on("0", "4(x").local_size, std::nullopt);
  EXPECT_EQ(on("0", "4(x23").local_size, std::nullopt) << "cut off";
  EXPECT_EQ(on("1", "4(x23,3").local_size, std::nullopt);
  EXPECT_EQ(on("0", "").local_size, std::nullopt);
}

TEST(Job, OfABatchScriptIsOneProcess) {
  const Job job = job_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}, {"SLURM_NODEID", "0"}});
  EXPECT_EQ(job.size, std::nullopt);
  EXPECT_EQ(job.local_size, std::nullopt);
}

TEST(Job, AsksTheLauncherBeforeTheBatchSystem) {
  // mpirun in a batch script: all its processes inherit the script's own place in Slurm.
  const Job job = job_of({{"SLURM_JOB_ID", "4711"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_LOCALID", "0"},
                          {"OMPI_COMM_WORLD_RANK", "5"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}});
  EXPECT_EQ(job.rank, 5U);
  EXPECT_EQ(job.local_rank, 2U);
}

TEST(Job, TakesNoGarbageForARank) {
  for (const char* text : {"", "x", "-1", " 1", "1 ", "1.0", "99999999999"}) {
    EXPECT_EQ(job_of({{"SLURM_PROCID", text}}).rank, std::nullopt) << text;
  }
  EXPECT_EQ(job_of({{"PMI_RANK", "garbage"}, {"SLURM_PROCID", "4"}}).rank, 4U)
      << "the next that says one";
}

constexpr auto kExpand = [](std::string_view path) {
  return expand_path(path, {.host = "n1", .rank = "3", .pid = "4711", .job = "88"});
};

TEST(ExpandPath, LeavesOrdinaryPathsAlone) {
  EXPECT_EQ(kExpand("/tmp/run.json"), "/tmp/run.json");
  EXPECT_EQ(kExpand(""), "");
}

TEST(ExpandPath, FillsInEachPlaceholder) {
  EXPECT_EQ(kExpand("run-%h-%r-%p-%j.json"), "run-n1-3-4711-88.json");
  EXPECT_EQ(kExpand("%h%h"), "n1n1");
}

TEST(ExpandPath, TakesTwoPercentSignsForOne) {
  EXPECT_EQ(kExpand("100%%"), "100%");
  EXPECT_EQ(kExpand("%%h"), "%h") << "not a placeholder";
}

TEST(ExpandPath, DoesNotExpandWhatItFilledIn) {
  EXPECT_EQ(expand_path("%h", {.host = "%r", .rank = "3", .pid = {}, .job = {}}), "%r");
}

TEST(ExpandPath, RefusesAnyOtherPlaceholder) {
  for (const char* path : {"%x", "%", "run-%", "%H", "% h", "%%%"}) {
    EXPECT_THROW((void)kExpand(path), InvalidArgument) << path;
  }
}

TEST(ExpandPath, NamesThePathPrintably) {
  try {
    (void)kExpand("\x1b[2J%x");
    FAIL() << "not refused";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), R"(in the path \x1b[2J%x: after % comes h, r, p, j or another %)");
  }
}

}  // namespace
}  // namespace wattle::app
