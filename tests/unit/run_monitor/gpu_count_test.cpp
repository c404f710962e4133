// The number of GPUs in a log that does not name them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "run_monitor/resource_summary.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct LogRow {
  int ms = 0;
  int power_w = 300;
  int temperature = 45;
  int used_mib = 1000;
};

std::string text_of(const LogRow& row) {
  return fmt::format("2026/11/21 00:{:02}:{:02}.{:03}, 50, 5, {}, 81920, {}, {}, 1410, 1593\n",
                     row.ms / 60'000, row.ms / 1000 % 60, row.ms % 1000, row.used_mib, row.power_w,
                     row.temperature);
}

/// A row a second of each GPU, of 100, 200 ... W, `late_ms` after the one before.
std::string rounds_of(int rounds, int gpus, int late_ms, int degrees_apart = 0) {
  std::string text;
  for (int i = 0; i < rounds; ++i) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      text += text_of({.ms = 1000 * i + late_ms * gpu,
                       .power_w = 100 * (gpu + 1),
                       .temperature = 45 + degrees_apart * gpu});
    }
  }
  return text;
}

/// `dmon`: the numbers of the GPUs in hw_dmon.csv.
ResourceSummary summary_beside_dmon(const std::string& rows, const std::vector<int>& dmon,
                                    std::optional<std::size_t> gpus_in_file = {}) {
  const fakes::TempFolder folder;
  folder.write("hw_metrics.csv", rows);
  std::string text = "# gpu sm mem fb\n";
  for (int i = 0; i < 60; ++i) {
    for (const int gpu : dmon) text += fmt::format("{} 50 5 1000\n", gpu);
  }
  if (!dmon.empty()) folder.write("hw_dmon.csv", text);
  return summary_of_folder(folder.path(), {}, gpus_in_file);
}

TEST(GpuCount, OfAnotherFileIsUsedWhereTheRowsFitIt) {
  const ResourceSummary summary = summary_beside_dmon(rounds_of(60, 2, 4), {0, 1});
  EXPECT_EQ(summary.files.at(0).gpus_by, "order of rows, their number from hw_dmon.csv");
  EXPECT_THAT(summary.files.at(0).problem, IsEmpty());
  ASSERT_THAT(summary.gpus, SizeIs(2));
  EXPECT_NEAR(summary.gpus[1].energy.value().si(), 200.0 * 59.0, 1.0);
  // Two rounds prove nothing: it decides.
  EXPECT_NEAR(summary_beside_dmon(rounds_of(2, 2, 4), {0, 1}).energy.value().si(), 300.0, 1.0);
}

TEST(GpuCount, OfAnotherFileIsNotBelievedAgainstTheRows) {
  const auto expect_withheld = [](const std::string& rows, const std::vector<int>& dmon,
                                  const std::string& numbers) {
    const ResourceSummary summary = summary_beside_dmon(rows, dmon);
    EXPECT_FALSE(summary.energy) << numbers;
    EXPECT_THAT(summary.files.at(0).problem,
                AllOf(HasSubstr(numbers), HasSubstr("--gpus-in-file")));
  };
  expect_withheld(rounds_of(60, 2, 4), {0}, "hw_dmon.csv has 1 GPU, and the rows are of 2 GPUs");
  expect_withheld(rounds_of(60, 4, 4), {0, 1}, "has 2 GPUs, and the rows are of 4 GPUs");
  expect_withheld(rounds_of(60, 1, 0), {0, 1}, "has 2 GPUs, and the rows are of 1 GPU");
  const ResourceSummary summary = summary_beside_dmon(rounds_of(60, 1, 0), {0, 1}, 1);
  EXPECT_EQ(summary.energy, Joules(5900.0)) << "the option ends the doubt";
}

TEST(GpuCount, ThatIsGivenIsNotBelievedAgainstTheRows) {
  const auto problem_with = [](std::size_t gpus) {
    const ResourceSummary summary = summary_beside_dmon(rounds_of(60, 4, 4), {}, gpus);
    EXPECT_EQ(summary.energy.has_value(), gpus == 4) << gpus;
    return summary.files.at(0).problem;
  };
  EXPECT_THAT(problem_with(1),
              HasSubstr("--gpus-in-file says 1 GPU, and the rows are of 4 GPUs: no figures"));
  EXPECT_THAT(problem_with(2), HasSubstr("says 2 GPUs, and the rows are of 4 GPUs"));
  EXPECT_THAT(problem_with(8), HasSubstr("--gpus-in-file says 8 GPUs, and the rows"));
  EXPECT_THAT(problem_with(4), IsEmpty());
}

TEST(GpuCount, ThatIsGivenHoldsForOneGpuWhoseRowsAreIrregular) {
  std::string rows;
  std::size_t noise = 1;
  int ms = 0;
  for (int i = 0; i < 200; ++i) {
    rows += text_of({.ms = ms});
    noise = noise * 6364136223846793005U + 1442695040888963407U;
    ms += 200 + static_cast<int>((noise >> 33U) % 600);
  }
  const ResourceSummary summary = summary_beside_dmon(rows, {}, 1);
  EXPECT_THAT(summary.files.at(0).problem, IsEmpty());
  ASSERT_TRUE(summary.energy);
  EXPECT_GT(summary.energy->si(), 0.98 * 0.3 * ms);
}

TEST(GpuCount, IsNotOneWhereTheRowsAlternate) {
  // At equal distances, as of one GPU at twice the pace.
  for (const int gpus : {2, 3}) {
    const ResourceSummary summary = summary_beside_dmon(rounds_of(60, gpus, 1000 / gpus, 15), {});
    EXPECT_FALSE(summary.energy && summary.gpus.size() == 1) << gpus;
    EXPECT_THAT(summary.files.at(0).problem, HasSubstr("--gpus-in-file N")) << gpus;
  }
}

TEST(GpuCount, IsKnownWhereTheDriverIsSlow) {
  for (const int gpus : {4, 16}) {
    const ResourceSummary summary =
        summary_beside_dmon(rounds_of(100, gpus, gpus == 4 ? 51 : 49), {});
    EXPECT_THAT(summary.files.at(0).problem, IsEmpty());
    ASSERT_THAT(summary.gpus, SizeIs(gpus));
    EXPECT_NEAR(summary.gpus.back().energy.value().si(), 9900.0 * gpus, 100.0);
  }
  // Slower than any driver is known to be: not guessed, and the option helps.
  const std::string slow = rounds_of(100, 2, 350);
  EXPECT_FALSE(summary_beside_dmon(slow, {}).energy);
  EXPECT_THAT(summary_beside_dmon(slow, {}).files.at(0).problem, HasSubstr("--gpus-in-file N"));
  EXPECT_NEAR(summary_beside_dmon(slow, {}, 2).energy.value().si(), 29700.0, 100.0);
}

}  // namespace
}  // namespace wattle
