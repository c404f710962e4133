#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fakes/perf_pmu.hpp"
#include "sensors/perf/event_sensor.hpp"

namespace wattle::perf {
namespace {

TEST(EventCode, IsHexadecimalOrDecimal) {
  EXPECT_EQ(parse_event("event=0x02"), 2U);
  EXPECT_EQ(parse_event("event=0xff"), 255U);
  EXPECT_EQ(parse_event("event=5"), 5U);
}

TEST(EventCode, ThatAsksForMoreIsNotUnderstood) {
  for (const char* text : {"", "event", "event=", "event=0x", "event=0x02,umask=0x1", "config=2",
                           "event=-1", "event=0x10000000000000000", "Event=2", " event=2"}) {
    EXPECT_EQ(parse_event(text), std::nullopt) << text;
  }
}

TEST(EventScale, OfTheKernelIsAnExactPowerOfTwo) {
  const auto scale = parse_scale(fakes::kPerfScale);
  ASSERT_TRUE(scale.has_value());
  EXPECT_EQ(scale->tick.si(), std::ldexp(1.0, -16));
  EXPECT_EQ(scale->shift, 16U) << "2^-16 J is the finest register: the other bits are 0";
  EXPECT_EQ(scale->followed_ticks, std::uint64_t{1} << 31U) << "half a turn of that register";
}

TEST(EventScale, LosesNothingOfAnyRegister) {
  const EventScale scale = parse_scale(fakes::kPerfScale).value();
  for (const int unit : {0, 10, 14, 16}) {
    const std::uint64_t ticks = 0x89AB'CDEF;
    const std::uint64_t count = ticks << static_cast<unsigned>(32 - unit);  // as the kernel does
    EXPECT_EQ(static_cast<double>(scale.ticks(count)) * scale.tick.si(),
              std::ldexp(static_cast<double>(ticks), -unit))
        << unit;
  }
}

TEST(EventScale, OfACoarserPowerOfTwoIsNotShifted) {
  const auto scale = parse_scale("0.00006103515625");  // 2^-14
  ASSERT_TRUE(scale.has_value());
  EXPECT_EQ(scale->tick.si(), std::ldexp(1.0, -14));
  EXPECT_EQ(scale->shift, 0U);
  EXPECT_EQ(scale->followed_ticks, std::uint64_t{1} << 29U);
}

TEST(EventScale, ThatIsNoPowerOfTwoIsTakenAsItStands) {
  const auto scale = parse_scale("1e-9");
  ASSERT_TRUE(scale.has_value());
  EXPECT_EQ(scale->tick.si(), 1e-9);
  EXPECT_EQ(scale->shift, 0U);
  EXPECT_EQ(scale->ticks(12345), 12345U);
}

TEST(EventScale, OfGarbageIsNone) {
  for (const char* text : {"", "0", "-1", "nan", "inf", "1e-400", "1e400", "1e-13", "1e4", "1,5",
                           "2.3e-10 ", "0x1p-32", "Joules"}) {
    EXPECT_EQ(parse_scale(text), std::nullopt) << text;
  }
}

TEST(EventUnit, IsJoules) {
  EXPECT_TRUE(is_joules("Joules"));
  for (const char* text : {"", "joules", "J", "Watts", "Joules "}) EXPECT_FALSE(is_joules(text));
}

}  // namespace
}  // namespace wattle::perf
