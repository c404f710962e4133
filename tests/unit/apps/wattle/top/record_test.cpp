#include "top/sources/record.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_up_machine.hpp"
#include "top/lines.hpp"

namespace wattle::app {
namespace {

TEST(TopRecord, IsReadAsItWasWritten) {
  TopObservation seen = made_up_machine();
  seen.machines = {{.name = "node1", .trouble = "connecting"}};
  seen.devices[3].users_unknown = "only root sees all processes that use it";
  seen.processes[0].cpu.reset();
  seen.devices[3].power_common_w = -0.25;
  const std::string line = to_record_line(seen);
  const auto again = parse_record_line(line);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_record_line(*again), line);
  ASSERT_EQ(again->devices.size(), seen.devices.size());
  EXPECT_TRUE(again->devices[4].energy.flags.has(Flag::partial_coverage));
  EXPECT_FALSE(again->devices[5].power);
  EXPECT_EQ(again->devices[3].power_common_w, -0.25);
  EXPECT_EQ(again->processes[2].command, "python");
  EXPECT_EQ(again->devices[3].users->front().pid, 20);
  EXPECT_EQ(again->devices[3].users_unknown, seen.devices[3].users_unknown);
  EXPECT_FALSE(again->processes[0].cpu);
}

TEST(TopRecord, TakesNoLineOfAnotherKind) {
  for (const char* line : {"", "hello", "[]", "{}", R"({"elapsed_s":1})", R"({"devices":[]})",
                           R"({"elapsed_s":"1","devices":[]})"}) {
    EXPECT_FALSE(parse_record_line(line)) << line;
  }
}

TEST(TopRecord, TakesNothingThatIsNotPossible) {
  const auto seen = parse_record_line(
      R"({"elapsed_s":-1,"length_s":1e300,"devices":[{"name":"\u001b[2J","power_w":-5,)"
      R"("energy_j":1e300,"temperature_celsius":1e300,"users":[{"part":7}]}],"threads":-3,)"
      R"("processes":[{"pid":1e40,"cpu_s":-1}]})");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->elapsed, Seconds(0));
  EXPECT_FALSE(seen->length);
  EXPECT_FALSE(seen->threads);
  EXPECT_EQ(seen->devices[0].name, "\\x1b[2J");
  EXPECT_FALSE(seen->devices[0].power);
  EXPECT_FALSE(seen->devices[0].energy.energy);
  EXPECT_FALSE(seen->devices[0].temperature_celsius);
  EXPECT_FALSE(seen->devices[0].users->front().part);
  EXPECT_FALSE(seen->processes[0].cpu);
}

TEST(TopLine, HasNullForWhatIsNotKnown) {
  TopObservation seen = made_up_machine();
  seen.length.reset();
  seen.processes[0].cpu.reset();
  const auto json =
      nlohmann::json::parse(json_line(seen, group_rows(seen, TopKey::process), TopKey::process));
  EXPECT_TRUE(json["length_s"].is_null());
  for (const auto& row : json["groups"]) {
    EXPECT_EQ(row["cpu_s"].is_null(), row["pid"] == 1) << row.dump();
    EXPECT_EQ(row["share_percent"].is_null(), row["pid"] == 1) << row.dump();
  }
}

TEST(TopLine, HasEveryRowAndTheTotal) {
  const TopObservation seen = made_up_machine();
  const auto json =
      nlohmann::json::parse(json_line(seen, group_rows(seen, TopKey::user), TopKey::user));
  EXPECT_EQ(json["schema"], "wattle.top_line/1");
  EXPECT_EQ(json["share_of"], "power");
  EXPECT_DOUBLE_EQ(json["total"]["power_w"], 490.0);
  EXPECT_TRUE(json["devices"][5]["power_w"].is_null());
  EXPECT_EQ(json["devices"][5]["power_unknown"], "nothing was read");
  double sum = 0.0;
  for (const auto& row : json["groups"]) sum += row["share_percent"].get<double>();
  EXPECT_NEAR(sum, 100.0, 1e-9);
}

}  // namespace
}  // namespace wattle::app
