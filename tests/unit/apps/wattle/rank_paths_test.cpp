#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"
#include "run/job.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using testing::HasSubstr;

constexpr bool kOnEachMachine = false;
constexpr bool kOnNetwork = true;

Job rank_of(unsigned rank, unsigned local_rank, unsigned size, unsigned local_size) {
  Job job;
  job.rank = rank;
  job.local_rank = local_rank;
  job.size = size;
  job.local_size = local_size;
  return job;
}

TEST(RankPaths, AreNotSharedOutsideOfAJob) {
  EXPECT_FALSE(is_shared_by_ranks("run.json", Job{}, kOnNetwork));
}

TEST(RankPaths, AreSharedByRanksOfOneMachine) {
  for (const unsigned rank : {0U, 3U}) {
    const Job job = rank_of(rank, rank, 4, 4);
    EXPECT_TRUE(is_shared_by_ranks("run.json", job, kOnEachMachine)) << rank;
    EXPECT_TRUE(is_shared_by_ranks("run-%h.json", job, kOnEachMachine)) << rank;
    EXPECT_TRUE(is_shared_by_ranks("run-%%r.json", job, kOnEachMachine)) << "no placeholder";
    EXPECT_FALSE(is_shared_by_ranks("run-%r.json", job, kOnEachMachine)) << rank;
    EXPECT_FALSE(is_shared_by_ranks("run-%p.json", job, kOnEachMachine)) << rank;
  }
}

TEST(RankPaths, AreSharedByMachinesOnANetworkAlone) {
  const Job job = rank_of(1, 0, 2, 1);
  EXPECT_TRUE(is_shared_by_ranks("run.json", job, kOnNetwork));
  EXPECT_FALSE(is_shared_by_ranks("run-%h.json", job, kOnNetwork));
  EXPECT_FALSE(is_shared_by_ranks("run.json", job, kOnEachMachine));
}

TEST(RankPaths, AreSharedWhereARankHasAnotherBeforeIt) {
  Job job;
  job.local_rank = 1;
  EXPECT_TRUE(is_shared_by_ranks("run.json", job, kOnEachMachine)) << "whatever the size";
}

TEST(RankPaths, NameThePlaceholderThatIsMissing) {
  const fakes::TempFolder folder;
  const std::string path = (folder.path() / "run-%h.json").string();
  try {
    require_own_file("--json", path, path, rank_of(0, 0, 4, 4));
    FAIL() << "not refused";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("--json names one file for several ranks"));
    EXPECT_THAT(error.what(), HasSubstr("put %r, the rank, into the name"));
  }
}

TEST(RankPaths, OfAFolderNeedAPlaceholderToo) {
  const fakes::TempFolder folder;
  const std::string path = folder.path().string();
  const Job job = rank_of(1, 1, 4, 4);
  try {
    require_own_folder("DIR", path, path, job);
    FAIL() << "not refused";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("DIR names one folder for several ranks"));
    EXPECT_THAT(error.what(), HasSubstr("put %r, the rank, into the name"));
  }
  EXPECT_NO_THROW(require_own_folder("DIR", path + "/%r", path + "/1", job));
  EXPECT_NO_THROW(require_own_folder("DIR", path, path, Job{}));
}

TEST(RankPaths, MayBeADevice) {
  EXPECT_NO_THROW(require_own_file("--json", "/dev/null", "/dev/null", rank_of(0, 0, 4, 4)));
}

}  // namespace
}  // namespace wattle::app
