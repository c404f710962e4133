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

TEST(UsageFile, HasToExist) {
  const fakes::TempFolder folder;
  EXPECT_THROW((void)recover_usage(folder.path() / "none"), Error);
}

}  // namespace
}  // namespace wattle
