#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"
#include "step/step_options.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

TEST(StepFiles, NameJobStepAndNode) {
  EXPECT_EQ(record_name({.job = "77", .step = "0", .node = "n1"}), "job-77.step-0.node-n1.json");
  EXPECT_EQ(record_name({.job = "77", .step = "batch", .node = "n1", .restarts = 2}),
            "job-77.step-batch.node-n1.restart-2.json");
}

TEST(StepFiles, AreFoundByJobAndStep) {
  const fakes::TempFolder folder;
  for (const char* name :
       {"job-77.step-0.node-n1.json", "job-77.step-0.node-n2.json", "job-77.step-1.node-n1.json",
        "job-7.step-0.node-n1.json", "job-77.step-0.node-n1.restart-1.json",
        "job-77.step-0.node-n3.json.part", "other"}) {
    folder.write(name, "");
  }
  const auto names = [&](const StepPlace& place) { return records_of(folder.path(), place); };
  EXPECT_THAT(names({.job = "77"}).size(), 4U);
  EXPECT_THAT(names({.job = "77", .step = "0"}),
              ElementsAre(EndsWith("/job-77.step-0.node-n1.json"),
                          EndsWith("/job-77.step-0.node-n2.json")));
  EXPECT_THAT(names({.job = "77", .step = "0", .restarts = 1}),
              ElementsAre(EndsWith("/job-77.step-0.node-n1.restart-1.json")));
  EXPECT_THAT(names({.job = "8"}), IsEmpty());
  EXPECT_THAT(records_of("/nonexistent", {.job = "77"}), IsEmpty());
}

TEST(StepFiles, TakeNoWordThatLeavesTheFolder) {
  for (const char* word : {"", "..", "../x", "a/b", "-x", ".x", "a b", "a\nb", "a%b", "\xff"}) {
    EXPECT_THROW(check_step_word("--node", word), InvalidArgument) << word;
  }
  EXPECT_THROW(check_step_word("--node", std::string(256, 'a')), InvalidArgument);
  for (const char* word : {"n1", "batch", "77", "rack1-n2.example.org", "4+0"}) {
    EXPECT_NO_THROW(check_step_word("--node", word)) << word;
  }
}

}  // namespace
}  // namespace wattle::app
