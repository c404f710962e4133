#include <gtest/gtest.h>

#include <string>

#include "usage/cgroup/cgroup_tree.hpp"

namespace wattle {
namespace {

constexpr const char* kNumber = "3f2a9c1b7d5e4a60b1c2d3e4f5061728394a5b6c7d8e9f00112233445566778a";

/// "pod 0f6e..", "pod 0f6e.. and below", "none"
std::string group_of(const std::string& path) {
  const auto place = group_of_cgroup(path);
  if (!place) return "none";
  return std::string(name_of(place->group.kind)) + ' ' + place->group.name +
         (place->is_below ? " and below" : "");
}

TEST(CgroupGroup, IsAServiceAScopeOrAUserOfSystemd) {
  EXPECT_EQ(group_of("/system.slice/nginx.service"), "service nginx.service");
  EXPECT_EQ(group_of("/system.slice/system-getty.slice/getty@tty1.service"),
            "service getty@tty1.service");
  EXPECT_EQ(group_of("/system.slice/nginx.service/workers"), "service nginx.service and below");
  EXPECT_EQ(group_of("/init.scope"), "scope init.scope");
  EXPECT_EQ(group_of("/user.slice/user-1000.slice"), "user 1000");
  EXPECT_EQ(group_of("/user.slice/user-1000.slice/session-3.scope"), "user 1000 and below");
}

TEST(CgroupGroup, IsAContainerOfAnyEngine) {
  const std::string number = kNumber;
  for (const std::string& path :
       {"/docker/" + number, "/system.slice/docker-" + number + ".scope",
        "/machine.slice/libpod-" + number + ".scope", "/machine.slice/crio-" + number + ".scope",
        "/system.slice/cri-containerd-" + number + ".scope"}) {
    EXPECT_EQ(group_of(path), "container 3f2a9c1b7d5e") << path;
  }
  EXPECT_EQ(group_of("/lxc/web"), "container web");
  EXPECT_EQ(group_of("/lxc.payload.web/init.scope"), "container web and below");
}

TEST(CgroupGroup, IsAPodWithAllOfItsContainers) {
  const std::string number = kNumber;
  const std::string uid = "0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56";
  EXPECT_EQ(group_of("/kubepods/burstable/pod" + uid), "pod " + uid);
  EXPECT_EQ(group_of("/kubepods/pod" + uid + "/" + number), "pod " + uid + " and below");
  EXPECT_EQ(
      group_of("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0f6e3a52_5f0c"
               "_4a8e_9a6f_0a3c1d2e4f56.slice/cri-containerd-" +
               number + ".scope"),
      "pod " + uid + " and below");
}

TEST(CgroupGroup, IsAPodThatAFileOfTheNodeDefines) {
  EXPECT_EQ(group_of("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
                     "podf44d110ca540f27fdb2e1b1a2b3c0c1e.slice"),
            "pod f44d110ca540f27fdb2e1b1a2b3c0c1e");
}

TEST(CgroupGroup, IsAJobOfSlurmInBothVersions) {
  EXPECT_EQ(group_of("/slurm_n1/uid_1000/job_4711"), "slurm_job 4711");
  EXPECT_EQ(group_of("/slurm/uid_1000/job_4711/step_0/task_3"), "slurm_job 4711 and below");
  EXPECT_EQ(group_of("/system.slice/slurmstepd.scope/job_4711/step_batch/user/task_0"),
            "slurm_job 4711 and below");
  EXPECT_EQ(group_of("/system.slice/n1_slurmstepd.scope/job_12"), "slurm_job 12");
  EXPECT_EQ(group_of("/system.slice/slurmd.service"), "service slurmd.service");
  EXPECT_EQ(group_of("/job_12"), "cgroup /job_12") << "nobody says that Slurm made it";
}

TEST(CgroupGroup, IsNoneForFoldersOfGroups) {
  for (const char* const path :
       {"", "/", "/system.slice", "/kubepods", "/kubepods/burstable", "/docker", "/lxc",
        "/slurm_n1/uid_1000", "/system.slice/slurmstepd.scope", "/user.slice",
        "/a.slice/a-b.slice"}) {
    EXPECT_EQ(group_of(path), "none") << path;
  }
}

TEST(CgroupGroup, IsThePathOfAnyOther) {
  EXPECT_EQ(group_of("/batch"), "cgroup /batch");
  EXPECT_EQ(group_of("/batch/a/b"), "cgroup /batch and below");
  EXPECT_EQ(group_of("/a.slice/tool"), "cgroup /a.slice/tool");
}

TEST(CgroupGroup, IsTheSameForAReaderInANamespaceOfItsOwn) {
  EXPECT_EQ(group_of("/../../system.slice/nginx.service"), "service nginx.service");
}

TEST(CgroupGroup, HasAPrintableNameOfBoundedLength) {
  EXPECT_EQ(group_of("/system.slice/a\nb\x1b[31m\xff\".service"),
            "service a\\x0ab\\x1b[31m\\xff\".service");
  const auto place = group_of_cgroup('/' + std::string(5000, 'x'));
  ASSERT_TRUE(place);
  EXPECT_LE(place->group.name.size(), 203U);
}

TEST(CgroupGroup, IsNotMisledByPartsThatAreAlmostRight) {
  const std::string number = kNumber;
  EXPECT_EQ(group_of("/docker-" + number.substr(1) + ".scope"),
            "scope docker-" + number.substr(1) + ".scope");
  EXPECT_EQ(group_of("/podcast"), "cgroup /podcast");
  EXPECT_EQ(group_of("/slurm_n1/uid_0/job_"), "cgroup /slurm_n1/uid_0/job_");
  EXPECT_EQ(group_of("/slurm_n1/uid_0/job_1x"), "cgroup /slurm_n1/uid_0/job_1x");
  EXPECT_EQ(group_of("/user.slice/user-.slice"), "none");
  EXPECT_EQ(group_of("pod"), "cgroup pod");
}

}  // namespace
}  // namespace wattle
