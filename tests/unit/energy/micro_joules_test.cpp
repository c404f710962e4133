#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "energy/handlers/handler.hpp"
#include "unit/energy/samples.hpp"

namespace wattle {
namespace {

using testing_samples::joules;

TEST(MicroJoules, AreAFloatOfWholeMicroJoulesForACounterOfThem) {
  EXPECT_EQ(micro_joules("package_0", joules(0.123456)), MicroJoules(123456.0));
  EXPECT_EQ(micro_joules("psys", joules(1e6)), MicroJoules(1e12));
  for (int uj = 1; uj < 1'000'000; uj += 37) {
    EXPECT_EQ(micro_joules("dram_0", joules(uj * 1e-6)), MicroJoules(double{1} * uj)) << uj;
  }
}

TEST(MicroJoules, KeepTheFractionOfAPowerOfTwo) {
  EXPECT_EQ(micro_joules("package_0", joules(std::ldexp(1.0, -14))), MicroJoules(61.035));
  EXPECT_EQ(micro_joules("package_0", joules(std::ldexp(1.0, -32))), MicroJoules(0.0));
}

TEST(MicroJoules, AreAnIntegerForAnNvidiaGpu) {
  EXPECT_EQ(micro_joules("nvidia_gpu_0", joules(0.004)), MicroJoules(std::int64_t{4000}));
  EXPECT_EQ(micro_joules("nvidia_gpu_11", joules(-0.004)), MicroJoules(std::int64_t{-4000}));
  EXPECT_EQ(micro_joules("amd_gpu_0", joules(0.004)), MicroJoules(4000.0));
}

TEST(MicroJoules, OfAnIntegerThatCannotBeAreTheNearestThatCan) {
  EXPECT_EQ(micro_joules("nvidia_gpu_0", joules(1e20)),
            MicroJoules(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(micro_joules("nvidia_gpu_0", joules(-1e20)),
            MicroJoules(std::numeric_limits<std::int64_t>::min()));
}

TEST(MicroJoules, AreNothingWhereNothingIsKnown) {
  EXPECT_EQ(micro_joules("package_0", testing_samples::nothing_known()), MicroJoules());
  EXPECT_EQ(micro_joules("nvidia_gpu_0", joules(std::nan(""))), MicroJoules());
  EXPECT_EQ(micro_joules("package_0", joules(std::numeric_limits<double>::infinity())),
            MicroJoules());
}

TEST(MicroJoules, OfLittleLessThanNothingAreZeroWithoutASign) {
  const MicroJoules zero = micro_joules("package_0", joules(-1e-12));
  EXPECT_FALSE(std::signbit(std::get<double>(zero)));
}

TEST(MicroJoules, AreWrittenAsPythonDoesOrAsTheCallerDoesWhatIsUnknown) {
  const auto written = [](const MicroJoules& value) {
    std::string out = ">";
    append_micro_joules(out, value, "None");
    return out;
  };
  EXPECT_EQ(written(MicroJoules(4000.0)), ">4000.0");
  EXPECT_EQ(written(MicroJoules(std::int64_t{4000})), ">4000");
  EXPECT_EQ(written(MicroJoules()), ">None");
}

}  // namespace
}  // namespace wattle
