#include "runs/history/saved_run_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sample_runs.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;

std::string parse_refusal(const std::string& line) {
  try {
    (void)parse_saved_run(line, "runs.jsonl, line 3");
    return {};
  } catch (const FormatError& error) {
    return error.what();
  }
}

TEST(SavedRunJson, IsReadAgain) {
  SavedRun run = saved_run({}, {{"branch", "main"}, {"a\nb", "\"c\""}});
  run.id = "k3m9x2qa";
  run.directory = "/a b";
  run.git =
      GitState{.commit = "abc", .branch = {}, .dirty = false, .unknown = "why", .worktree = "/a"};
  PowerCourse series{.length = Seconds(0.2), .column = Seconds(0.1), .step = Seconds(0.05)};
  series.domains = {{"package_0",
                     {{.mean = Watts(10.0), .uncertainty = Watts(0.5)},
                      {.mean = Watts(12.0), .lowest = Watts(11.0), .highest = Watts(12.25)}}},
                    {"dram_0", {{.mean = Watts(1.5)}, {}}}};
  series.total = {{.mean = Watts(11.5)}, {}};
  run.series = series;

  const std::string line = saved_run_line(run);
  EXPECT_THAT(line, testing::Not(HasSubstr("\n")));
  const SavedRun again = parse_saved_run(line, "a file");
  EXPECT_EQ(again.record, run.record);
  EXPECT_EQ(again.tags, run.tags);
  EXPECT_EQ(again.directory, run.directory);
  ASSERT_TRUE(again.git);
  EXPECT_EQ(again.git->dirty, false);
  EXPECT_EQ(again.git->unknown, "why");
  ASSERT_TRUE(again.series);
  EXPECT_EQ(again.series->packed(), series.packed());
  EXPECT_EQ(saved_run_line(again), line);
}

TEST(SavedRunJson, IsAlsoReadFromARecordOfARun) {
  const std::string record = run_record();
  EXPECT_EQ(parse_saved_run(record, "a file").record, record);
  EXPECT_EQ(parse_saved_run(record + " ", "a file").record, record);
}

TEST(SavedRunJson, KeepsWhatIsAbsentAbsent) {
  const SavedRun again = parse_saved_run(saved_run_line(saved_run()), "a file");
  EXPECT_FALSE(again.git);
  EXPECT_FALSE(again.series);
  EXPECT_TRUE(again.tags.empty());
}

TEST(SavedRunJson, HasNoTagsOfAList) {
  SavedRun run = saved_run();
  std::string line = saved_run_line(run);
  const std::string tags = "\"tags\":{}";
  ASSERT_NE(line.find(tags), std::string::npos) << line;
  line.replace(line.find(tags), tags.size(), "\"tags\":[\"x\"]");
  EXPECT_TRUE(parse_saved_run(line, "x").tags.empty());
}

TEST(SavedRunJson, SaysWhatIsWrong) {
  const std::string line = saved_run_line(saved_run());
  EXPECT_THAT(parse_refusal(line.substr(0, line.size() / 2)),
              HasSubstr("cannot read runs.jsonl, line 3: its JSON is cut off"));
  EXPECT_THAT(parse_refusal(R"({"schema":"wattle.saved/1","record":null})"), HasSubstr("line 3"));
  EXPECT_THAT(parse_refusal(R"({"schema":"wattle.saved/2","record":{}})"),
              HasSubstr("wattle.saved/2"));
  EXPECT_THAT(parse_refusal(""), HasSubstr("it is empty"));
  EXPECT_THAT(parse_refusal("[1]"), HasSubstr("schema"));
}

}  // namespace
}  // namespace wattle
