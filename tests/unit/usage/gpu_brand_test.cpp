#include "usage/gpu/gpu_brand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Domain kNvidia = Domain::nvidia_gpu(0);
const Domain kAmd = Domain::amd_gpu(0);
const Domain kIntel = Domain::intel_gpu(0);

SensorRefusal inside_processor(const Domain& gpu) {
  return {.source = "drm", .subject = gpu.name() + " energy", .absent = true};
}

TEST(GpuBrand, IsTheFirstThatIsThere) {
  EXPECT_THAT(gpus_of_brand({kNvidia, kAmd, kIntel}, {}, {}), ElementsAre(kNvidia));
  EXPECT_THAT(gpus_of_brand({kAmd, Domain::amd_gpu(1), kIntel}, {}, {}),
              ElementsAre(kAmd, Domain::amd_gpu(1)));
  EXPECT_THAT(gpus_of_brand({kIntel}, {}, {}), ElementsAre(kIntel));
  EXPECT_THAT(gpus_of_brand({}, {}, {}), IsEmpty());
}

TEST(GpuBrand, IsTheOneThatIsAskedFor) {
  EXPECT_THAT(gpus_of_brand({kNvidia, kAmd, kIntel}, {}, "amd"), ElementsAre(kAmd));
  EXPECT_THAT(gpus_of_brand({kNvidia, kAmd, kIntel}, {}, "intel"), ElementsAre(kIntel));
  EXPECT_THAT(gpus_of_brand({kAmd}, {}, "nvidia"), IsEmpty());
}

TEST(GpuBrand, LeavesOutGpusInsideOfProcessorsOfEitherVendor) {
  for (const Domain& inside : {kAmd, kIntel}) {
    const Domain board = inside == kAmd ? Domain::amd_gpu(1) : Domain::intel_gpu(1);
    EXPECT_THAT(gpus_of_brand({inside, board}, {inside_processor(inside)}, {}), ElementsAre(board));
    EXPECT_THAT(gpus_of_brand({inside}, {inside_processor(inside)}, {}), ElementsAre(inside))
        << "where there is no other";
  }
  EXPECT_THAT(gpus_of_brand({kAmd, kIntel}, {inside_processor(kAmd)}, {}), ElementsAre(kIntel));
}

TEST(GpuBrand, CountsThoseThatAreAlike) {
  const Domain inside = Domain::amd_gpu(1);
  const std::set<Domain> gpus = {kNvidia, kAmd, inside, Domain::amd_gpu(2)};
  const std::vector<SensorRefusal> refused = {inside_processor(inside)};
  EXPECT_THAT(gpus_like(kAmd, gpus, refused), ElementsAre(kAmd, Domain::amd_gpu(2)));
  EXPECT_THAT(gpus_like(inside, gpus, refused), ElementsAre(inside));
}

}  // namespace
}  // namespace wattle
