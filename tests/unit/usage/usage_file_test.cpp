#include "usage/usage_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

ResourceUsage usage_of(double seconds) {
  ResourceUsage usage;
  usage.compute_time = {.unit = "seconds", .time = seconds};
  return usage;
}

TEST(UsageFile, GivesItsLastLine) {
  const std::string lines = usage_line(usage_of(1), 1) + usage_line(usage_of(2), 2);
  const RecoveredUsage found = recovered(lines, "x");
  EXPECT_EQ(found.ticks, 2U);
  EXPECT_EQ(found.json, usage_of(2).to_json());
  EXPECT_EQ(found.text, usage_of(2).to_text());
}

TEST(UsageFile, IsReadableWhereverItEnds) {
  const std::string first = usage_line(usage_of(1), 1);
  const std::string lines = first + usage_line(usage_of(2), 2);
  for (std::size_t length = 0; length < first.size(); length += 7) {
    EXPECT_THROW((void)recovered(lines.substr(0, length), "x"), FormatError) << length;
  }
  for (std::size_t length = first.size(); length < lines.size(); ++length) {
    ASSERT_EQ(recovered(lines.substr(0, length), "x").ticks, 1U) << length;
  }
}

TEST(UsageFile, TakesNothingElseForOne) {
  for (const char* text :
       {"", "\n\n", "{}\n", "[1]\n", "null\n", "{\"schema\":\"wattle.track/1\"}\n",
        "{\"schema\":\"wattle.track/1\",\"tick\":-1,\"resource_usage\":{}}\n"}) {
    EXPECT_THROW((void)recovered(text, "x"), FormatError) << text;
  }
}

TEST(UsageFile, GivesAllThatATrackerTells) {
  ResourceUsage usage = usage_of(1);
  usage.tracker_cpu = Seconds(0.25);
  EXPECT_EQ(recovered(usage_line(usage, 1), "x").native_json, usage.to_native_json());
}

TEST(UsageFile, MovesNoCursor) {
  ResourceUsage usage = usage_of(1);
  usage.max_ram.unit = "\x1b[2J";
  const RecoveredUsage found = recovered(usage_line(usage, 1), "x");
  for (const std::string& text : {found.text, found.json, found.native_json}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  }
}

TEST(UsageFile, IsNotReadHoweverDeepItIs) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string line =
      R"({"schema":"wattle.track/1","tick":1,"resource_usage":{"compute_time":{},"x":)" + deep;
  EXPECT_NO_THROW((void)recovered(line + "}}\n", "x"));
}

TEST(UsageFile, HasToExist) {
  const fakes::TempFolder folder;
  EXPECT_THROW((void)recover_usage(folder.path() / "none"), Error);
}

}  // namespace
}  // namespace wattle
