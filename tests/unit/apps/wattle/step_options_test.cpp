#include "step/step_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "parsed_line.hpp"

namespace wattle::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string step_error(std::vector<const char*> words) {
  words.insert(words.begin(), "step");
  const ParsedLine parsed = parse_words(std::move(words));
  const auto* answer = std::get_if<Answer>(&parsed);
  if (answer == nullptr || !answer->is_error) return "none";
  EXPECT_EQ(answer->exit_status, kUsageError);
  return answer->text;
}

TEST(StepOptions, AreThoseThatThePluginGives) {
  const ParsedLine parsed = parse_words({"step", "--job", "77", "--step", "batch", "--node", "n1",
                                         "--folder", "/records", "--pid", "42", "--allocated-gpus",
                                         "4", "--name=-x", "--save", "--", "./solver", "--fast"});
  const auto* step = options_in<StepOptions>(parsed);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(record_name(step->place), "job-77.step-batch.node-n1.json");
  EXPECT_EQ(step->folder, "/records");
  EXPECT_EQ(step->pid, 42);
  EXPECT_EQ(step->allocated_gpus, 4U);
  EXPECT_EQ(step->job_name, "-x");
  EXPECT_EQ(step->saving.save, true);
  EXPECT_EQ(step->interval, std::chrono::seconds(1));
  EXPECT_THAT(step->command, ElementsAre("./solver", "--fast"));
  EXPECT_FALSE(step->sums);
}

TEST(StepOptions, OfASumNeedNoNode) {
  const ParsedLine parsed =
      parse_words({"step", "--sum", "--job", "77", "--nodes", "2", "--wait", "0.5"});
  const auto* step = options_in<StepOptions>(parsed);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->nodes, 2U);
  EXPECT_EQ(step->wait, std::chrono::milliseconds(500));
}

TEST(StepOptions, AreRefusedWhereAFileWouldLeaveTheFolder) {
  EXPECT_THAT(step_error({"--job", "../77", "--step", "0", "--node", "n1"}), HasSubstr("--job"));
  EXPECT_THAT(step_error({"--job", "77", "--step", "0", "--node", "a/b"}), HasSubstr("--node"));
  EXPECT_THAT(step_error({"--job", "77", "--step", "0"}), HasSubstr("--node"));
  EXPECT_THAT(step_error({"--sum", "--job", "77", "--step", "a b"}), HasSubstr("--step"));
  EXPECT_THAT(step_error({"--job", "77", "--step", "0", "--node", "n", "--pid", "9999999"}),
              HasSubstr("--pid takes a number up to 4194304, not '9999999'"));
}

}  // namespace
}  // namespace wattle::app
