#include "usage/cgroup/cgroup_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::Pair;

class CgroupTreeTest : public testing::Test {
 protected:
  void make_two() { folder_.write("fs/cgroup/cgroup.controllers", "cpu memory\n"); }
  void put_two(const std::string& path, std::uint64_t used_us) {
    folder_.write("fs/cgroup" + path + "/cpu.stat",
                  "usage_usec " + std::to_string(used_us) + "\nuser_usec 1\nsystem_usec 2\n");
  }
  CgroupTree tree() const { return CgroupTree(System{.sysfs = folder_.path()}); }
  /// "service a.service" and its time.
  static std::map<std::string, std::uint64_t> uses(const CgroupTree& tree) {
    std::map<std::string, std::uint64_t> all;
    for (const auto& [path, time] : tree.read().times) {
      all[std::string(name_of(time.group.kind)) + ' ' + time.group.name] += time.used_us;
    }
    return all;
  }

  fakes::TempFolder folder_;
};

TEST_F(CgroupTreeTest, ReadsVersionTwo) {
  make_two();
  put_two("/system.slice", 900);
  put_two("/system.slice/a.service", 300);
  put_two("/system.slice/a.service/below", 100);
  put_two("/init.scope", 5);
  const CgroupTree found = tree();
  EXPECT_EQ(found.version(), CgroupVersion::two);
  EXPECT_THAT(uses(found),
              ElementsAre(Pair("scope init.scope", 5), Pair("service a.service", 300)));
  EXPECT_TRUE(found.read().is_whole);
}

TEST_F(CgroupTreeTest, ReadsVersionOneAlsoWhereBothAreMounted) {
  folder_.write("fs/cgroup/unified/cgroup.controllers", "\n");
  folder_.write("fs/cgroup/cpu,cpuacct/cpuacct.usage", "9000000\n");
  folder_.write("fs/cgroup/cpu,cpuacct/slurm_n1/uid_7/job_12/cpuacct.usage", "2500999\n");
  folder_.write("fs/cgroup/cpu,cpuacct/slurm_n1/uid_7/cpuacct.usage", "7000000\n");
  const CgroupTree found = tree();
  EXPECT_EQ(found.version(), CgroupVersion::one);
  EXPECT_THAT(uses(found), ElementsAre(Pair("slurm_job 12", 2500)));
}

TEST_F(CgroupTreeTest, LeavesOutAGroupThatIsGoneBetweenTheListAndTheRead) {
  make_two();
  put_two("/a.service", 1);
  // As the kernel shows one that is going away: its folder is still there, its files are not.
  std::filesystem::create_directories(folder_.path() / "fs/cgroup/b.service");
  EXPECT_THAT(uses(tree()), ElementsAre(Pair("service a.service", 1)));
  EXPECT_TRUE(tree().read().is_whole);
}

TEST_F(CgroupTreeTest, LeavesOutWhatShowsNoTimeAndIsNotWholeThen) {
  make_two();
  folder_.write("fs/cgroup/a.service/cpu.stat", "usage_usec -1\n");
  folder_.write("fs/cgroup/b.service/cpu.stat", "");
  folder_.write("fs/cgroup/c.service/cpu.stat", std::string(5000, 'x'));
  folder_.write("fs/cgroup/d.service/cpu.stat", "usage_usec 99999999999999999999999\n");
  EXPECT_TRUE(uses(tree()).empty());
  EXPECT_FALSE(tree().read().is_whole);
}

TEST_F(CgroupTreeTest, FollowsNoLink) {
  make_two();
  put_two("/a.slice/b.service", 1);
  std::filesystem::create_directory_symlink(folder_.path() / "fs/cgroup/a.slice",
                                            folder_.path() / "fs/cgroup/link.slice");
  EXPECT_EQ(tree().read().times.size(), 1U);
}

TEST_F(CgroupTreeTest, IsCutOffWhereThereIsTooMuchOfIt) {
  make_two();
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "/a.slice";
  put_two(deep + "/b.service", 1);
  put_two("/c.service", 2);
  const CgroupTree::CgroupReading reading = tree().read();
  EXPECT_FALSE(reading.is_whole);
  EXPECT_EQ(reading.times.size(), 1U);
}

TEST_F(CgroupTreeTest, HasNothingWhereThereIsNone) {
  const CgroupTree none = tree();
  EXPECT_EQ(none.version(), CgroupVersion::none);
  EXPECT_FALSE(none.read().is_whole);
  EXPECT_EQ(none.root(), (folder_.path() / "fs/cgroup").string());
}

}  // namespace
}  // namespace wattle
