#include "shares/divided_energy.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace wattle::daemon {
namespace {

CgroupGroup service(const std::string& name) { return {CgroupKind::service, name}; }

std::uint64_t sum_of(const DividedEnergy& divided) {
  std::uint64_t sum =
      divided.idle_uj + divided.unexplained_uj + divided.rest_uj + divided.undivided_uj;
  for (const auto& [group, uj] : divided.groups_uj) sum += uj;
  return sum;
}

IdlePower baseline_of(double watts) {
  return {
      .baseline =
          IdleRange{.low = Watts(watts - 2.0), .typical = Watts(watts), .high = Watts(watts + 2.0)},
      .lowest = Watts(1000.0)};
}

TEST(DividedEnergy, OfCpusAboveIdleGoesByCpuTime) {
  const DividedEnergy divided = divide_cpu(
      500'000'000, Seconds(5.0),
      {.groups_us = {{service("a"), 3'000'000}, {service("b"), 1'000'000}, {service("c"), 0}},
       .busy_us = 8'000'000},
      baseline_of(60.0));
  EXPECT_EQ(divided.idle_uj, 300'000'000U);
  EXPECT_EQ(divided.groups_uj.at(service("a")), 75'000'000U);
  EXPECT_EQ(divided.groups_uj.at(service("b")), 25'000'000U);
  EXPECT_FALSE(divided.groups_uj.contains(service("c")));
  EXPECT_EQ(divided.rest_uj, 100'000'000U) << "half of the CPU time was in no group";
  EXPECT_EQ(divided.unexplained_uj, 0U);
}

TEST(DividedEnergy, OfCpusHasARangeThatHoldsLoadsOfOtherKinds) {
  const DividedEnergy divided = divide_cpu(
      500'000'000, Seconds(5.0),
      {.groups_us = {{service("a"), 3'000'000}, {service("b"), 1'000'000}}, .busy_us = 8'000'000},
      baseline_of(60.0));
  for (const auto& [group, uj] : divided.groups_uj) {
    const GroupRange& range = divided.ranges_uj.at(group);
    // A second of CPU time may draw 3 times the power of another one.
    EXPECT_LT(range.low_uj, uj / 2) << group.name;
    EXPECT_GT(range.high_uj, uj * 3 / 2) << group.name;
    EXPECT_LE(range.high_uj, 210'000'000U) << "what is above the least idle power: " << group.name;
  }
}

TEST(DividedEnergy, OfAGroupThatIsAloneIsUncertainByTheIdlePowerOnly) {
  const DividedEnergy divided = divide_cpu(
      500'000'000, Seconds(5.0), {.groups_us = {{service("a"), 4'000'000}}, .busy_us = 4'000'000},
      baseline_of(60.0));
  EXPECT_EQ(divided.groups_uj.at(service("a")), 200'000'000U);
  EXPECT_EQ(divided.ranges_uj.at(service("a")).low_uj, 190'000'000U) << "idle at 62 W";
  EXPECT_EQ(divided.ranges_uj.at(service("a")).high_uj, 210'000'000U) << "idle at 58 W";
}

TEST(DividedEnergy, WithoutABaselineMayBeAllOfTheMeasuredEnergy) {
  const DividedEnergy divided =
      divide_cpu(500'000'000, Seconds(5.0), {.groups_us = {{service("a"), 10}}, .busy_us = 10},
                 {.baseline = std::nullopt, .lowest = Watts(80.0)});
  EXPECT_EQ(divided.ranges_uj.at(service("a")).low_uj, 100'000'000U);
  EXPECT_EQ(divided.ranges_uj.at(service("a")).high_uj, 500'000'000U);
}

TEST(DividedEnergy, OfAGpuIsUncertainIfSeveralUseIt) {
  const std::vector<CgroupGroup> groups = {service("a"), service("b")};
  const DividedEnergy one = divide_gpu_energy(1000, {.parts = {{0, 1.0}}}, groups, std::nullopt);
  EXPECT_TRUE(one.ranges_uj.empty()) << "all of it is certain";
  const DividedEnergy two =
      divide_gpu_energy(1000, {.parts = {{0, 0.5}, {1, 0.5}}}, groups, std::nullopt);
  EXPECT_EQ(two.ranges_uj.at(service("b")).low_uj, 0U);
  EXPECT_EQ(two.ranges_uj.at(service("b")).high_uj, 1000U);
}

TEST(DividedEnergy, WithoutABaselineTheLowestPowerIsUnexplained) {
  const DividedEnergy divided =
      divide_cpu(500'000'000, Seconds(5.0), {.groups_us = {{service("a"), 10}}, .busy_us = 10},
                 {.baseline = std::nullopt, .lowest = Watts(80.0)});
  EXPECT_EQ(divided.idle_uj, 0U);
  EXPECT_EQ(divided.unexplained_uj, 400'000'000U);
  EXPECT_EQ(divided.groups_uj.at(service("a")), 100'000'000U);
}

TEST(DividedEnergy, BelowTheBaselineDoesNotUseIt) {
  const DividedEnergy divided =
      divide_cpu(100'000'000, Seconds(5.0), {.groups_us = {{service("a"), 10}}, .busy_us = 10},
                 {.baseline = baseline_of(60.0).baseline, .lowest = Watts(20.0)});
  EXPECT_EQ(divided.idle_uj, 0U);
  EXPECT_EQ(divided.unexplained_uj, 100'000'000U);
}

TEST(DividedEnergy, IsAllIdleBetweenTheLeastAndTheTypicalIdlePower) {
  const DividedEnergy divided =
      divide_cpu(295'000'000, Seconds(5.0), {.groups_us = {{service("a"), 10}}, .busy_us = 10},
                 baseline_of(60.0));
  EXPECT_EQ(divided.idle_uj, 295'000'000U);
  EXPECT_TRUE(divided.groups_uj.empty());
}

TEST(DividedEnergy, OfGroupsThatAddUpToMoreThanTheMachineIsTheirs) {
  const DividedEnergy divided = divide_cpu(
      100, Seconds(1.0), {.groups_us = {{service("a"), 30}, {service("b"), 10}}, .busy_us = 20},
      {.baseline = std::nullopt, .lowest = Watts(0.0)});
  EXPECT_EQ(divided.groups_uj.at(service("a")), 75U);
  EXPECT_EQ(divided.groups_uj.at(service("b")), 25U);
}

TEST(DividedEnergy, WhereNothingUsedTheCpusIsTheRests) {
  const DividedEnergy divided =
      divide_cpu(100, Seconds(1.0), {.groups_us = {{service("a"), 0}}, .busy_us = 0},
                 {.baseline = std::nullopt, .lowest = Watts(0.0)});
  EXPECT_EQ(divided.rest_uj, 100U);
}

TEST(DividedEnergy, OfAGpuGoesToItsUsers) {
  const std::vector<CgroupGroup> groups = {service("a"), service("b")};
  const DividedEnergy divided =
      divide_gpu_energy(1001, {.parts = {{0, 1.0 / 3.0}, {1, 2.0 / 3.0}}}, groups, std::nullopt);
  EXPECT_EQ(divided.groups_uj.at(service("a")), 333U);
  EXPECT_EQ(divided.groups_uj.at(service("b")), 668U) << "with the remainder";
  EXPECT_EQ(divided.undivided_uj, 0U);
}

TEST(DividedEnergy, OfAGpuThatNobodyUsesIsIdle) {
  EXPECT_EQ(divide_gpu_energy(77, {}, {}, std::nullopt).idle_uj, 77U);
}

TEST(DividedEnergy, OfAGpuWithUnknownUsersHasAReason) {
  const DividedEnergy unknown = divide_gpu_energy(
      77, {.unknown = "the driver does not list its processes"}, {}, std::nullopt);
  EXPECT_EQ(unknown.undivided_uj, 77U);
  EXPECT_EQ(unknown.undivided_reason, "the driver does not list its processes");
  const std::vector<CgroupGroup> groups = {service("a")};
  const DividedEnergy unseen =
      divide_gpu_energy(100, {.parts = {{0, 0.25}, {std::nullopt, 0.75}}}, groups, std::nullopt);
  EXPECT_EQ(unseen.groups_uj.at(service("a")), 25U);
  EXPECT_EQ(unseen.undivided_uj, 75U);
  EXPECT_EQ(unseen.undivided_reason, kUserNotSeen);
}

TEST(DividedEnergy, OfAGpuWhoseUsersAreUnknownIsItsOnlyOwners) {
  const CgroupGroup pod{CgroupKind::pod, "1"};
  EXPECT_EQ(divide_gpu_energy(77, {.unknown = "?"}, {}, pod).groups_uj.at(pod), 77U);
  EXPECT_EQ(divide_gpu_energy(77, {.parts = {{std::nullopt, 1.0}}}, {}, pod).groups_uj.at(pod),
            77U);
  EXPECT_EQ(divide_gpu_energy(77, {}, {}, pod).idle_uj, 77U) << "nobody uses it: that is known";
}

TEST(DividedEnergy, AddsUpExactlyInRandomWorlds) {
  std::mt19937_64 random(20261128);  // NOLINT(cert-msc51-cpp,bugprone-random-generator-seed)
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t measured = up_to(std::uint64_t{1} << up_to(50));
    CpuUse use;
    for (std::uint64_t group = up_to(12); group > 0; --group) {
      use.groups_us[service(std::to_string(group))] = up_to(std::uint64_t{1} << up_to(63));
    }
    if (up_to(3) > 0) use.busy_us = up_to(std::uint64_t{1} << up_to(40));
    IdlePower idle{.lowest = Watts(static_cast<double>(up_to(500)))};
    if (up_to(1) > 0) idle.baseline = baseline_of(static_cast<double>(up_to(300))).baseline;
    const DividedEnergy cpus =
        divide_cpu(measured, Seconds(0.5 + static_cast<double>(up_to(10))), use, idle);
    ASSERT_EQ(sum_of(cpus), measured) << i;

    std::vector<CgroupGroup> groups;
    GpuParts parts;
    for (std::uint64_t user = up_to(5); user > 0; --user) {
      groups.push_back(service(std::to_string(user)));
      parts.parts.push_back({up_to(4) > 0 ? std::optional(groups.size() - 1) : std::nullopt,
                             static_cast<double>(up_to(1000))});
    }
    double all = 0.0;
    for (const GpuPart& part : parts.parts) all += part.part;
    for (GpuPart& part : parts.parts) part.part = all > 0.0 ? part.part / all : 0.0;
    if (up_to(9) == 0) parts = {.unknown = "?"};
    const auto owner = up_to(3) == 0 ? std::optional(service("owner")) : std::nullopt;
    ASSERT_EQ(sum_of(divide_gpu_energy(measured, parts, groups, owner)), measured) << i;
  }
}

}  // namespace
}  // namespace wattle::daemon
