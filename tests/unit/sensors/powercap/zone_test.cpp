#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "fakes/powercap_tree.hpp"
#include "sanitized.hpp"
#include "sensors/cpu_zones.hpp"
#include "sensors/powercap/counter_sensor.hpp"

namespace wattle::powercap {
namespace {

using namespace std::string_view_literals;

TEST(ZoneId, OfATopLevelZone) {
  const auto id = parse_zone_id("intel-rapl:12");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->control, "intel-rapl");
  EXPECT_EQ(id->zone, 12U);
  EXPECT_EQ(id->sub, std::nullopt);
}

TEST(ZoneId, OfAZoneInside) {
  const auto id = parse_zone_id("intel-rapl-mmio:0:3");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->control, "intel-rapl-mmio");
  EXPECT_EQ(id->zone, 0U);
  EXPECT_EQ(id->sub, 3U);
}

TEST(ZoneId, RefusesEverythingElse) {
  for (const std::string_view name :
       {""sv, "intel-rapl"sv, "intel-rapl:"sv, ":0"sv, "intel-rapl:x"sv, "intel-rapl:-1"sv,
        "intel-rapl:0:"sv, "intel-rapl:0:1:2"sv, "intel-rapl: 0"sv, "intel-rapl:4294967296"sv}) {
    EXPECT_FALSE(parse_zone_id(name)) << "'" << name << "'";
  }
}

TEST(ZoneId, TakesOnlyAnIdentifierForAControlType) {
  EXPECT_TRUE(parse_zone_id("dtpm:0"));
  EXPECT_TRUE(parse_zone_id("amd_rapl2:0"));
  EXPECT_FALSE(parse_zone_id("\x1b[31m:0"));
  EXPECT_FALSE(parse_zone_id("a b:0"));
  EXPECT_FALSE(
      parse_zone_id("gr\xc3\xb6\xc3\x9f"
                    "e:0"));
}

TEST(ZoneName, OfAPackage) {
  EXPECT_EQ(parse_top_zone_name("package-0"), Domain::package(0));
  EXPECT_EQ(parse_top_zone_name("package-17"), Domain::package(17));
}

TEST(ZoneName, OfADie) {
  EXPECT_EQ(parse_top_zone_name("package-1-die-0"), Domain::package(1).on_die(0));
  EXPECT_EQ(parse_top_zone_name("package-0-die-3"), Domain::package(0).on_die(3));
}

TEST(ZoneName, OfThePlatform) {
  EXPECT_EQ(parse_top_zone_name("psys"), Domain::psys());
  EXPECT_EQ(parse_top_zone_name("psys-1"), Domain::psys(1));
}

TEST(ZoneName, OfATopLevelZoneIsNothingElse) {
  for (const std::string_view name :
       {""sv, "package"sv, "package-"sv, "package-x"sv, "package--1"sv, "package-0-"sv,
        "package-0-die"sv, "package-0-die-"sv, "package-0-die-x"sv, "package-0-die-1-x"sv,
        "package-4294967296"sv, "psys-"sv, "psys-x"sv, "psys0"sv, "core"sv, "dram"sv,
        " package-0"sv}) {
    EXPECT_FALSE(parse_top_zone_name(name)) << "'" << name << "'";
  }
}

TEST(ZoneName, OfAZoneInsideAPackage) {
  EXPECT_EQ(parse_sub_zone_name("core"), DomainKind::core);
  EXPECT_EQ(parse_sub_zone_name("uncore"), DomainKind::uncore);
  EXPECT_EQ(parse_sub_zone_name("dram"), DomainKind::dram);
  for (const std::string_view name : {""sv, "Core"sv, "core-0"sv, "package-0"sv, "psys"sv}) {
    EXPECT_FALSE(parse_sub_zone_name(name)) << "'" << name << "'";
  }
}

/// A way in which kernels turn ticks into micro-joules.
struct Rounding {
  std::string name;
  double tick_j;
  std::function<std::uint64_t(std::uint64_t ticks)> energy_uj;
};

Rounding in_nanojoules(std::string name, const fakes::KernelUnit& unit) {
  return {std::move(name), unit.tick_j, [unit](std::uint64_t t) { return unit.energy_uj(t); }};
}

/// Since Linux 3.18: whole nano-joules.
Rounding truncated(int n) {
  return in_nanojoules("Truncated" + std::to_string(n),
                       {.tick_j = std::ldexp(1.0, -n), .nanojoules = 1'000'000'000ULL >> n});
}

/// Before: the exact unit.
Rounding exact(int n) {
  return {"Exact" + std::to_string(n), std::ldexp(1.0, -n),
          [n](std::uint64_t ticks) { return ticks * 1'000'000 >> n; }};
}

/// Some Atoms: 2^n micro-joules.
Rounding atom(int n) {
  const std::uint64_t microjoules = 1ULL << n;
  return in_nanojoules(
      "Atom" + std::to_string(n),
      {.tick_j = static_cast<double>(microjoules) * 1e-6, .nanojoules = microjoules * 1000});
}

std::vector<Rounding> all_roundings() {
  std::vector<Rounding> all = {in_nanojoules("Package", fakes::kPackageUnit),
                               in_nanojoules("Fine", fakes::kFineUnit),
                               in_nanojoules("ServerDram", fakes::kServerDramUnit),
                               in_nanojoules("ServerPsys", fakes::kServerPsysUnit)};
  for (int n = 0; n < 20; ++n) {
    all.push_back(truncated(n));
    all.push_back(exact(n));
  }
  for (int n = 0; n < 16; ++n) all.push_back(atom(n));
  return all;
}

constexpr std::uint64_t kLargest = 0xFFFFFFFF;

TEST(TickScale, IsFoundByTheRangeOfEveryKernel) {
  for (const Rounding& kernel : all_roundings()) {
    const TickScale scale = identify_scale(kernel.energy_uj(kLargest));
    EXPECT_EQ(scale.tick.si(), kernel.tick_j) << kernel.name;
    EXPECT_EQ(scale.modulus, kLargest + 1) << kernel.name;
  }
}

TEST(TickScale, RecoversTicksExactlyAtTheBoundaries) {
  for (const Rounding& kernel : all_roundings()) {
    const TickScale scale = identify_scale(kernel.energy_uj(kLargest));
    for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                      kLargest / 2, kLargest - 1, kLargest}) {
      EXPECT_EQ(scale.ticks(kernel.energy_uj(ticks)), ticks) << kernel.name;
    }
  }
}

TEST(TickScale, RecoversAMillionRandomTicksExactlyForEveryKernel) {
  std::mt19937_64 random(1);
  for (const Rounding& kernel : all_roundings()) {
    const TickScale scale = identify_scale(kernel.energy_uj(kLargest));
    int wrong = 0;
    for (int i = 0; i < (kSanitized ? 100'000 : 1'000'000); ++i) {
      const std::uint64_t ticks = random() & kLargest;
      if (scale.ticks(kernel.energy_uj(ticks)) != ticks) ++wrong;
    }
    EXPECT_EQ(wrong, 0) << kernel.name;
  }
}

TEST(TickScale, RefusesEnergiesBeyondTheRange) {
  for (const Rounding& kernel : all_roundings()) {
    const std::uint64_t range_uj = kernel.energy_uj(kLargest);
    const TickScale scale = identify_scale(range_uj);
    const auto tick_uj = static_cast<std::uint64_t>(std::ceil(kernel.tick_j * 1.01e6));
    EXPECT_EQ(scale.ticks(range_uj + tick_uj), std::nullopt) << kernel.name;
    EXPECT_EQ(scale.ticks(UINT64_MAX / 1000), std::nullopt) << kernel.name;
    EXPECT_EQ(scale.ticks(UINT64_MAX), std::nullopt) << kernel.name;
  }
}

TEST(TickScale, IsFoundByThePublishedRanges) {
  EXPECT_EQ(identify_scale(262143328850).tick.si(), std::ldexp(1.0, -14));
  EXPECT_EQ(identify_scale(262143999938).tick.si(), std::ldexp(1.0, -14)) << "an older kernel";
  EXPECT_EQ(identify_scale(65532610987).tick.si(), std::ldexp(1.0, -16));
  EXPECT_EQ(identify_scale(65712999613).tick.si(), std::ldexp(1.0, -16)) << "server DRAM";
}

TEST(TickScale, OfAnUnknownRangeIsTheMicrojouleWithTheRangeAsModulus) {
  const TickScale scale = identify_scale(123456);
  EXPECT_EQ(scale.tick, Joules(1e-6));
  EXPECT_EQ(scale.modulus, 123457U);
  EXPECT_EQ(scale.ticks(0), 0U);
  EXPECT_EQ(scale.ticks(123456), 123456U);
  EXPECT_EQ(scale.ticks(123457), std::nullopt);
}

TEST(TickScale, WithoutARangeHasNoModulus) {
  for (const auto range : {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{0}}) {
    const TickScale scale = identify_scale(range);
    EXPECT_EQ(scale.tick, Joules(1e-6));
    EXPECT_EQ(scale.modulus, 0U);
    EXPECT_EQ(scale.ticks(123456789), 123456789U);
    EXPECT_EQ(scale.ticks(UINT64_MAX), std::nullopt) << "beyond what can be computed with";
  }
}

TEST(TickScale, OfTheLargestRangeNeverWraps) {
  const TickScale scale = identify_scale(UINT64_MAX);
  EXPECT_EQ(scale.modulus, 0U);
  EXPECT_EQ(scale.tick, Joules(1e-6));
}

}  // namespace
}  // namespace wattle::powercap
