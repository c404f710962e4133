#include "usage/gpu/gpu_division.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace wattle {
namespace {

using Users = std::optional<std::vector<GpuUser>>;

/// Processes below 100 are in the group of their tens.
std::optional<std::size_t> tens_of(const GpuUser& user) {
  if (user.pid >= 100) return std::nullopt;
  return static_cast<std::size_t>(user.pid / 10);
}
GpuParts divide(const Users& users, std::optional<double> utilization = 50.0) {
  return divide_gpu({.users = users, .utilization_percent = utilization}, tens_of, false);
}

TEST(GpuDivision, GivesAllToAGroupThatIsAlone) {
  const GpuParts parts = divide(Users{{{.pid = 11}, {.pid = 12}}});
  ASSERT_EQ(parts.parts.size(), 1U);
  EXPECT_EQ(parts.parts[0].group, 1U);
  EXPECT_DOUBLE_EQ(parts.parts[0].part, 1.0);
}

TEST(GpuDivision, DividesByTheTimeThatTheGpuWorkedForEachGroup) {
  const GpuParts parts =
      divide(Users{{{.pid = 11, .part = 0.2}, {.pid = 21, .part = 0.5}, {.pid = 12, .part = 0.3}}});
  ASSERT_EQ(parts.parts.size(), 2U);
  EXPECT_DOUBLE_EQ(parts.parts[0].part, 0.5);
  EXPECT_DOUBLE_EQ(parts.parts[1].part, 0.5);
}

TEST(GpuDivision, KeepsThePartOfProcessesThatAreNotSeen) {
  const GpuParts parts = divide(Users{{{.pid = 11, .part = 0.25}, {.pid = 500, .part = 0.75}}});
  ASSERT_EQ(parts.parts.size(), 2U);
  EXPECT_FALSE(parts.parts[1].group);
  EXPECT_DOUBLE_EQ(parts.parts[1].part, 0.75);
}

TEST(GpuDivision, HasAReasonWhereItIsNotKnownWhoUsedHowMuch) {
  EXPECT_EQ(divide(Users{{{.pid = 11}, {.pid = 21}}}).unknown,
            "the driver does not report who uses how much of it");
  EXPECT_EQ(divide(Users{{{.pid = 11, .part = 0.0}, {.pid = 21, .part = 0.0}}}).unknown,
            "it worked for none of its processes");
  EXPECT_EQ(divide(std::nullopt).unknown, "the driver does not list its processes");
  EXPECT_EQ(divide(Users{std::in_place}).unknown, "it is in use, but no process is listed");
  EXPECT_EQ(divide(Users{std::in_place}, std::nullopt).unknown,
            "no process is listed, and its utilization is unknown");
  const Users one{{{.pid = 11}}};
  EXPECT_EQ(divide_gpu({.users = one}, tens_of, true).unknown,
            "an MPS server uses it, and the driver does not list for whom");
}

TEST(GpuDivision, IsOfNobodyWhereItIsIdle) {
  const GpuParts parts = divide(Users{std::in_place}, 0.0);
  EXPECT_TRUE(parts.parts.empty());
  EXPECT_TRUE(parts.unknown.empty());
}

}  // namespace
}  // namespace wattle
