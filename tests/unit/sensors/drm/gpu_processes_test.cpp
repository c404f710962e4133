#include "sensors/drm/gpu_processes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/drm_tree.hpp"

namespace wattle::drm {
namespace {

using fakes::amdgpu_fdinfo;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

using fakes::kAddress;
constexpr const char* kOther = "0000:83:00.0";

/// "PID: bytes"; "?" where they are not known.
std::string text_of(const DeviceProcess& process) {
  return fmt::format("{}: {}", process.pid,
                     process.memory_bytes ? std::to_string(*process.memory_bytes) : "?");
}

class Users : public testing::Test {
 protected:
  Users() {
    tree_.add_rx6800(0, kAddress);
    tree_.add_rx6800(1, kOther);
  }
  [[nodiscard]] std::vector<DeviceProcess> list() const {
    OpenGpuFiles open(tree_.system().procfs);
    const auto nodes = open.list(TimePoint(milliseconds(0)));
    if (!nodes) throw std::runtime_error("no list");
    const std::vector<std::string> mine = {"card0", "renderD128"};
    return users_of(*nodes, mine, kAddress, open.procfs());
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> lines;
    for (const DeviceProcess& process : list()) lines.push_back(text_of(process));
    return lines;
  }

  fakes::DrmTree tree_;
};

TEST_F(Users, AreTheProcessesWithTheGpuOpen) {
  tree_.open_gpu(20, 5, 0, amdgpu_fdinfo(kAddress, 1, 3, 7));
  tree_.open_file(20, 0, "/dev/null", "pos:\t0\n");
  tree_.open_file(30, 1, "/tmp/file", "pos:\t0\n");
  tree_.open_file(100, 4, "/dev/dri/card0", amdgpu_fdinfo(kAddress, 2, 8, 0));
  EXPECT_THAT(texts(), ElementsAre("20: 3072", "100: 8192"));
  EXPECT_EQ(list().at(0).engine_time, nanoseconds(1007));
}

TEST_F(Users, AreNotThoseOfAnotherGpu) {
  tree_.open_gpu(20, 5, 1, amdgpu_fdinfo(kOther, 1, 3, 7));
  EXPECT_THAT(list(), IsEmpty());
}

TEST_F(Users, AreDistinguishedByAddressWhereAContainerRenamesTheNodes) {
  tree_.open_gpu(20, 5, 0, amdgpu_fdinfo(kOther, 1, 3, 7));
  EXPECT_THAT(list(), IsEmpty());
}

TEST_F(Users, CountAClientOnceForAllDescriptors) {
  tree_.open_gpu(20, 5, 0, amdgpu_fdinfo(kAddress, 1, 3, 7));
  tree_.open_gpu(20, 6, 0, amdgpu_fdinfo(kAddress, 1, 3, 7));
  tree_.open_gpu(20, 7, 0, amdgpu_fdinfo(kAddress, 2, 1, 0));
  EXPECT_THAT(texts(), ElementsAre("20: 4096"));
}

TEST_F(Users, CountAClientOnceForAllProcesses) {
  tree_.open_gpu(1000, 5, 0, amdgpu_fdinfo(kAddress, 1, 3, 7));
  tree_.open_gpu(200, 5, 0, amdgpu_fdinfo(kAddress, 1, 3, 7));
  EXPECT_THAT(texts(), ElementsAre("200: 3072", "1000: 0"));
}

TEST_F(Users, HoldAnUnknownAmountWhereTheDriverDoesNotSay) {
  tree_.open_gpu(20, 5, 0, "pos:\t0\npdev:\t0000:03:00.0\nvram mem:\t60060 kB\n");
  tree_.open_gpu(30, 5, 0,
                 fmt::format("drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-pdev:\t{}\n", kAddress));
  tree_.open_gpu(40, 5, 0, "drm-driver:\tamdgpu\ndrm-memory-vram:\t1 KiB\n");
  EXPECT_THAT(texts(), ElementsAre("20: ?", "30: ?", "40: ?")) << "40: perhaps counted already";
}

TEST_F(Users, MayCloseTheGpuMeanwhile) {
  tree_.open_gpu(20, 5, 0, amdgpu_fdinfo(kAddress, 1, 3, 7));
  std::filesystem::remove(tree_.system().procfs / "20/fdinfo/5");
  EXPECT_THAT(list(), IsEmpty());
}

TEST_F(Users, AreLookedForAtMostTwiceASecond) {
  OpenGpuFiles open(tree_.system().procfs);
  const TimePoint begin{std::chrono::hours(1)};
  EXPECT_THAT(*open.list(begin), IsEmpty());
  tree_.open_gpu(20, 5, 0, "");
  EXPECT_THAT(*open.list(begin + milliseconds(400)), IsEmpty());
  EXPECT_EQ(open.list(begin + milliseconds(600))->size(), 1U);
}

TEST_F(Users, AreUnknownWithoutAProcfs) {
  OpenGpuFiles open("/no/such/folder");
  EXPECT_EQ(open.list(TimePoint(milliseconds(0))), nullptr);
}

}  // namespace
}  // namespace wattle::drm
