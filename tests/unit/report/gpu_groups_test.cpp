#include "report/gpu_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_reports.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(NamesOfDomains, FoldRunsOfNumbers) {
  EXPECT_EQ(names_of({Domain::nvidia_gpu(0)}), "nvidia_gpu_0");
  EXPECT_EQ(names_of({Domain::nvidia_gpu(0), Domain::nvidia_gpu(1), Domain::nvidia_gpu(2),
                      Domain::nvidia_gpu(6), Domain::amd_gpu(0)}),
            "nvidia_gpu_0-2,6, amd_gpu_0");
  EXPECT_EQ(names_of({Domain::package(0), Domain::package(1)}), "package_0, package_1");
}

TEST(GpuGroups, AreOfTheGpusThatTheCommandUsedAlike) {
  const auto groups = gpu_groups(testing_support::on_gpus(4, 2), Detail::folded);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups[0], ElementsAre(Domain::nvidia_gpu(0), Domain::nvidia_gpu(1)));
  EXPECT_THAT(groups[1], ElementsAre(Domain::nvidia_gpu(2), Domain::nvidia_gpu(3)));
}

TEST(GpuGroups, AreSingleGpusWhereThereAreFew) {
  EXPECT_THAT(gpu_groups(testing_support::on_gpus(3, 3), Detail::folded), SizeIs(3));
  EXPECT_THAT(gpu_groups(testing_support::on_gpus(8, 8), Detail::all), SizeIs(8));
}

TEST(GpuGroups, HaveOneModel) {
  Report report = testing_support::on_gpus(4, 4);
  report.host.gpus->back().info.model = "NVIDIA A100";
  const auto groups = gpu_groups(report, Detail::folded);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups[1], ElementsAre(Domain::nvidia_gpu(3)));
}

}  // namespace
}  // namespace wattle
