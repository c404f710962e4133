#include "run_monitor/resource_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "golden.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// All files there tell of the same four seconds of two GPUs.
std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(WATTLE_FIXTURES) / "run_monitor" / name;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr double kMeanUtil = 290.0 / 7.0;
constexpr double kMeanMemUtil = 29.0 / 7.0;
constexpr double kMeanPower = 1102.75 / 7.0;

void expect_truth_of_utilization(const ResourceSummary& summary) {
  EXPECT_EQ(summary.gpu_util_mean_pct, kMeanUtil);
  EXPECT_EQ(summary.gpu_util_max_pct, 80.0);
  EXPECT_EQ(summary.mem_util_mean_pct, kMeanMemUtil);
  EXPECT_EQ(summary.mem_util_max_pct, 8.0);
  EXPECT_EQ(summary.peak_vram_mb, 2048.0);
  ASSERT_THAT(summary.gpus, SizeIs(2));
  EXPECT_EQ(summary.gpus[0].name, "0");
  EXPECT_EQ(summary.gpus[0].gpu_util_mean_pct, 25.0);
  EXPECT_EQ(summary.gpus[0].peak_vram_mb, 1031.0);
  EXPECT_EQ(summary.gpus[1].mem_util_mean_pct, 19.0 / 3.0);
  ASSERT_THAT(summary.files, SizeIs(1));
  EXPECT_EQ(summary.files[0].rows, 8U);
  EXPECT_EQ(summary.files[0].bad_rows, 0U);
  EXPECT_THAT(summary.files[0].problem, IsEmpty());
}

TEST(ResourceSummary, ReportsTheSameTruthFromEachLayoutOfTheCsv) {
  for (const char* name :
       {"hw_metrics.csv", "hw_metrics_header_units.csv", "hw_metrics_index.csv"}) {
    SCOPED_TRACE(name);
    const ResourceSummary summary = build_resource_summary(fixture(name), std::nullopt);
    expect_truth_of_utilization(summary);
    EXPECT_EQ(summary.power_watts_mean, kMeanPower);
    EXPECT_EQ(summary.power_watts_max, 230.25);
    EXPECT_EQ(summary.gpus[0].energy, Joules(331.5));
    EXPECT_EQ(summary.gpus[1].energy, Joules(410.5));
    EXPECT_EQ(summary.gpus[1].energy_unknown, Seconds(1.0));
    EXPECT_EQ(summary.energy, Joules(742.0));
    EXPECT_EQ(summary.energy_unknown, Seconds(1.0));
    EXPECT_EQ(summary.mem_util_source, fixture(name));
  }
}

TEST(ResourceSummary, ReportsTheSameTruthFromEachLayoutOfDmon) {
  for (const char* name :
       {"dmon_mu_new.txt", "dmon_mu_old.txt", "dmon_um_new.txt", "dmon_um_old.txt",
        "dmon_pucvmet.txt", "dmon_odt.txt", "dmon_no_header.txt", "hw_dmon.csv"}) {
    SCOPED_TRACE(name);
    const ResourceSummary summary =
        build_resource_summary(std::nullopt, std::nullopt, fixture(name));
    expect_truth_of_utilization(summary);
    EXPECT_EQ(summary.mem_util_source, fixture(name));
    // Of these layouts one alone has a column of powers, in whole watts.
    const bool has_power = summary.files[0].path.filename() == "dmon_pucvmet.txt";
    EXPECT_EQ(summary.power_watts_mean, has_power ? std::optional(1100.0 / 7.0) : std::nullopt);
    EXPECT_EQ(summary.power_watts_max, has_power ? std::optional(230.0) : std::nullopt);
    EXPECT_EQ(summary.gpus[1].power_watts_mean,
              has_power ? std::optional(640.0 / 3.0) : std::nullopt);
    EXPECT_EQ(summary.energy, std::nullopt) << "the table has no times of rows";
  }
}

TEST(ResourceSummary, ReportsTheSameTruthOfFilesWithAByteOrderMark) {
  const fakes::TempFolder folder;
  for (const char* name : {"hw_metrics.csv", "hw_metrics_header_units.csv", "dmon_no_header.txt"}) {
    SCOPED_TRACE(name);
    folder.write(name, "\xEF\xBB\xBF" + content_of(fixture(name)));
    const auto path = folder.path() / name;
    const bool is_csv = path.extension() == ".csv";
    expect_truth_of_utilization(is_csv ? build_resource_summary(path, std::nullopt)
                                       : build_resource_summary(std::nullopt, std::nullopt, path));
  }
  folder.write("cpu", "\xEF\xBB\xBF" + content_of(fixture("cpu_metrics.csv")));
  const ResourceSummary summary = build_resource_summary(std::nullopt, folder.path() / "cpu");
  EXPECT_EQ(summary.cpu_usr_mean_pct, 60.5 / 3.0);
  EXPECT_EQ(summary.files[0].bad_rows, 0U);
}

TEST(ResourceSummary, ReportsTheSameTruthOfFilesWithOtherLineEnds) {
  const fakes::TempFolder folder;
  for (const char* name : {"hw_metrics.csv", "hw_metrics_header_units.csv", "dmon_mu_new.txt"}) {
    SCOPED_TRACE(name);
    std::string text;
    for (const char c : content_of(fixture(name))) {
      if (c == '\n') text += '\r';
      text += c;
    }
    folder.write(name, text);
    const auto path = folder.path() / name;
    const bool is_csv = path.extension() == ".csv";
    expect_truth_of_utilization(is_csv ? build_resource_summary(path, std::nullopt)
                                       : build_resource_summary(std::nullopt, std::nullopt, path));
  }
}

TEST(ResourceSummary, PrefersDmonForTheMemoryController) {
  const fakes::TempFolder folder;
  folder.write("dmon", "# gpu sm mem\n0 1 90\n7 2 70\n");
  const ResourceSummary summary = build_resource_summary(
      fixture("hw_metrics.csv"), fixture("cpu_metrics.csv"), folder.path() / "dmon");
  EXPECT_EQ(summary.mem_util_mean_pct, 80.0);
  EXPECT_EQ(summary.mem_util_source, folder.path() / "dmon");
  EXPECT_EQ(summary.gpu_util_mean_pct, kMeanUtil);
  ASSERT_THAT(summary.gpus, SizeIs(3));
  EXPECT_EQ(summary.gpus[0].mem_util_mean_pct, 90.0);
  EXPECT_EQ(summary.gpus[0].gpu_util_mean_pct, 25.0);
  EXPECT_EQ(summary.gpus[2].name, "7");
  EXPECT_EQ(summary.cpu_usr_mean_pct, 60.5 / 3.0);
  EXPECT_EQ(summary.cpu_idle_mean_pct, 210.5 / 3.0);
}

TEST(ResourceSummary, HasSevenKeysWhateverIsKnown) {
  EXPECT_EQ(build_resource_summary(std::nullopt, std::nullopt).to_dict(),
            "{\"peak_vram_mb\": null, \"gpu_util_mean_pct\": null, \"gpu_util_max_pct\": null, "
            "\"power_watts_mean\": null, \"power_watts_max\": null, \"cpu_usr_mean_pct\": null, "
            "\"cpu_idle_mean_pct\": null}\n");
  ResourceSummary summary =
      build_resource_summary(fixture("hw_metrics.csv"), fixture("cpu_metrics.csv"));
  summary.set_allocator_peak(1024.06);
  EXPECT_EQ(summary.to_dict(),
            "{\"peak_vram_mb\": 2048.0, \"gpu_util_mean_pct\": 41.4, \"gpu_util_max_pct\": 80.0, "
            "\"power_watts_mean\": 157.5, \"power_watts_max\": 230.2, \"cpu_usr_mean_pct\": 20.2, "
            "\"cpu_idle_mean_pct\": 70.2, \"jax_peak_bytes_mb\": 1024.1, "
            "\"mem_util_mean_pct\": 4.1, \"mem_util_max_pct\": 8.0}\n");
}

TEST(ResourceSummary, ShowsAMemoryControllerThatDidNothing) {
  const fakes::TempFolder folder;
  folder.write("dmon", "0 1 0 5\n");
  EXPECT_THAT(build_resource_summary({}, {}, folder.path() / "dmon").to_dict(),
              HasSubstr("\"mem_util_mean_pct\": 0.0, \"mem_util_max_pct\": 0.0}"));
}

TEST(ResourceSummary, HasBytesThatNoWholeNumberHolds) {
  ResourceSummary summary = build_resource_summary(fixture("hw_metrics.csv"), std::nullopt, "");
  summary.set_allocator_peak(1e300);
  const auto json = nlohmann::json::parse(summary.to_json());
  EXPECT_DOUBLE_EQ(json["allocator_peak_bytes"].get<double>(), 1e300 * 1048576.0);
}

TEST(ResourceSummary, HasBytesInItsOwnJson) {
  ResourceSummary summary =
      build_resource_summary(fixture("hw_metrics.csv"), std::nullopt, "/nowhere/\xff");
  summary.set_allocator_peak(0.0);
  const auto json = nlohmann::json::parse(summary.to_json());
  EXPECT_EQ(json["schema"], "wattle.summary/1");
  EXPECT_EQ(json["all_gpus"]["peak_memory_used_bytes"], 2048 * 1048576LL);
  EXPECT_EQ(json["all_gpus"]["energy_j"], 742.0);
  EXPECT_EQ(json["gpus"][1]["name"], "1");
  EXPECT_EQ(json["allocator_peak_bytes"], 0);
  EXPECT_TRUE(json["mean_cpu_user_percent"].is_null());
  EXPECT_TRUE(json["files"][0]["problem"].is_null());
  EXPECT_EQ(json["files"][1]["problem"], "No such file or directory");
}

TEST(ResourceSummary, SaysInItsTextWhatIsNotKnown) {
  const fakes::TempFolder folder;
  folder.write("hw_metrics.csv", "NVIDIA-SMI has failed\n");
  const std::string text =
      build_resource_summary(folder.path() / "hw_metrics.csv", fixture("cpu_metrics.csv"))
          .to_text();
  EXPECT_THAT(text, Not(HasSubstr("util."))) << "no table of nothing";
  EXPECT_THAT(text, HasSubstr("energy        unknown\n"
                              "              no CPU, no DRAM, no GPU: there are no rows of "
                              "hw_samples.csv, which has the energy\n"));
  EXPECT_THAT(text, HasSubstr("CPU           20.2 % user, 70.2 % idle on average\n"));
  EXPECT_THAT(text,
              HasSubstr("hw_metrics.csv: 0 rows, 1 damaged row skipped: no row can be read; the "
                        "first: \"NVIDIA-SMI has failed\": it is no row"));
}

TEST(ResourceSummary, FitsTheTerminal) {
  const fakes::TempFolder folder;
  folder.write("hw_samples.csv",
               "time,device,index,uuid,quantity,value\n"
               "2026-11-21T00:00:00.000+00:00,monitor,,,interval_s,10\n"
               "2026-11-21T00:00:10.000+00:00,package_0,0,,energy_j,500\n"
               "2026-11-21T00:00:10.000+00:00,package_0,0,,energy_uncertainty_j,1\n");
  ResourceSummary summary = build_resource_summary(
      fixture("hw_metrics.csv"), fixture("cpu_metrics.csv"), {}, folder.path() / "hw_samples.csv");
  // Their folders are not the same everywhere.
  for (SummaryFile& file : summary.files) file.path = file.path.filename();
  while (summary.gpus.size() < 8) summary.gpus.push_back(summary.gpus.front());
  testing_support::expect_looks(
      "look_summary.txt", [&](const TextStyle& style) { return summary_text(summary, style); });
}

TEST(ResourceSummary, HasARowForEachGpuOn80Columns) {
  ResourceSummary summary = build_resource_summary(fixture("hw_metrics.csv"), std::nullopt);
  while (summary.gpus.size() < 8) summary.gpus.push_back(summary.gpus.front());
  for (std::size_t i = 0; i < 8; ++i) {
    summary.gpus[i].name = std::to_string(i);
    summary.gpus[i].energy = Joules(123456.0 * static_cast<double>(i + 1));
    summary.gpus[i].energy_uncertainty = Joules(1234.0);
  }
  const std::string text = summary_text(summary, {.width = 80});
  std::istringstream lines(text);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns_of(line), 80U) << line;
    if (line.size() > 2 && line[0] >= '0' && line[0] <= '7' && line[1] == ' ') ++rows;
  }
  EXPECT_EQ(rows, 8) << text;
}

TEST(ResourceSummary, ShortensLongNamesWithoutMixingThem) {
  ResourceSummary summary = build_resource_summary(fixture("hw_metrics.csv"), std::nullopt);
  summary.gpus[0].name = "GPU-5b3f1c2d-0000-1111-2222-333344445555";
  summary.gpus[1].name = "GPU-5b3f1c2d-9000-1111-2222-333344445555";
  const std::string text = summary_text(summary, {.width = 80});
  EXPECT_THAT(text, HasSubstr("\nGPU-5b3f1c2d-0 "));
  EXPECT_THAT(text, HasSubstr("\nGPU-5b3f1c2d-9 "));
}

TEST(ResourceSummary, SaysWhatTheTotalOfTheMachineLacks) {
  const fakes::TempFolder folder;
  const std::string time = "2026-11-21T00:00:";
  folder.write("hw_samples.csv",
               "time,device,index,uuid,quantity,value\n" + time +
                   "00.000+00:00,monitor,,,interval_s,10\n" + time +
                   "00.000+00:00,package_1,,,not_measured: energy_uj is readable by root only,1\n" +
                   time + "10.000+00:00,package_0,0,,energy_j,500\n" + time +
                   "10.000+00:00,package_0,0,,energy_uncertainty_j,1\n");
  const ResourceSummary summary =
      build_resource_summary({}, {}, {}, folder.path() / "hw_samples.csv");
  EXPECT_THAT(
      summary.to_text(),
      HasSubstr("energy        at least 500.0 J ±1.0 J (package_0)\n"
                "              not all of CPU: package_1: energy_uj is readable by root only\n"
                "              no DRAM: this processor has no counter for its memory\n"
                "              no GPU: no GPU with its own power sensor was found\n"));
  const auto missing = nlohmann::json::parse(summary.to_json())["machine"]["total_missing"];
  ASSERT_EQ(missing.size(), 3U);
  EXPECT_EQ(missing[0],
            nlohmann::json(
                {{"kind", "cpu"}, {"reason", "package_1: energy_uj is readable by root only"}}));
}

TEST(ResourceSummary, SaysThatNoEnergyOfTheMachineIsKnownWithoutSamples) {
  const auto machine = nlohmann::json::parse(
      build_resource_summary(fixture("hw_metrics.csv"), {}).to_json())["machine"];
  EXPECT_TRUE(machine["energy_j"].is_null());
  EXPECT_TRUE(machine["unknown_s"].is_null()) << "nobody knows of which time";
  EXPECT_EQ(machine["total_missing"].size(), 3U);
}

TEST(ResourceSummary, AddsUpThePowersOfItsGpus) {
  const ResourceSummary summary = build_resource_summary(fixture("hw_metrics.csv"), std::nullopt);
  ASSERT_THAT(summary.gpus, SizeIs(2));
  const double sum_w = *summary.gpus[0].power_watts_mean + *summary.gpus[1].power_watts_mean;
  const auto json = nlohmann::json::parse(summary.to_json());
  EXPECT_EQ(json["all_gpus"]["total_mean_power_w"], sum_w);
  EXPECT_EQ(json["all_gpus"]["mean_power_w"], kMeanPower) << "of one";
  EXPECT_FALSE(json["gpus"][0].contains("total_mean_power_w"));
  EXPECT_THAT(summary.to_text(), testing::ContainsRegex("\nall .* 3[0-9]+ +230.2 +"));
  EXPECT_THAT(summary.to_text(), HasSubstr("\nall: the sum of mean powers and energies, "));
}

TEST(ResourceSummary, HasNoUnknownTimeOfAnEnergyThatNobodyMeasured) {
  const auto json = nlohmann::json::parse(
      build_resource_summary(std::nullopt, fixture("cpu_metrics.csv")).to_json());
  EXPECT_TRUE(json["all_gpus"]["energy_j"].is_null());
  EXPECT_TRUE(json["all_gpus"]["energy_unknown_s"].is_null());
}

TEST(ResourceSummary, RefusesAPeakThatIsNone) {
  ResourceSummary summary;
  EXPECT_THROW(summary.set_allocator_peak(-1.0), InvalidArgument);
  EXPECT_THROW(summary.set_allocator_peak(std::numeric_limits<double>::quiet_NaN()),
               InvalidArgument);
  EXPECT_FALSE(summary.jax_peak_bytes_mb);
}

TEST(ResourceSummary, ReadsTheRestOfDamagedFiles) {
  const fakes::TempFolder folder;
  const std::string whole = content_of(fixture("hw_metrics.csv"));
  folder.write("csv", whole + std::string(50, '\0') + "\n" + whole + "2026/11/21 23:59:58.2");
  const ResourceSummary summary = build_resource_summary(folder.path() / "csv", std::nullopt);
  EXPECT_EQ(summary.gpu_util_max_pct, 80.0);
  EXPECT_EQ(summary.files[0].rows, 16U);
  EXPECT_EQ(summary.files[0].bad_rows, 2U) << "that line, and the last one";
}

TEST(ResourceSummary, GivesNoRowToAnotherGpuAfterALineThatIsTooLong) {
  const fakes::TempFolder folder;
  std::vector<std::string> rows;
  const std::string whole = content_of(fixture("hw_metrics.csv"));
  for (std::size_t begin = 0; begin < whole.size(); begin = whole.find('\n', begin) + 1) {
    rows.push_back(whole.substr(begin, whole.find('\n', begin) + 1 - begin));
  }
  ASSERT_THAT(rows, SizeIs(8));
  rows[2] = std::string(300'000, 'x') + "\n";  // of GPU 0, so that the next is not
  std::string text;
  for (const std::string& row : rows) text += row;
  folder.write("csv", text);
  const ResourceSummary summary = build_resource_summary(folder.path() / "csv", std::nullopt);
  ASSERT_THAT(summary.gpus, SizeIs(2));
  EXPECT_EQ(summary.gpus[0].gpu_util_max_pct, 40.0);
  EXPECT_EQ(summary.gpus[0].power_watts_max, 130.5);
  EXPECT_EQ(summary.files[0].bad_rows, 1U) << "that line: it holds the place of GPU 0";
}

TEST(ResourceSummary, ReadsPointsUnderAGermanLocale) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const bool is_german = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  const ResourceSummary summary =
      build_resource_summary(fixture("hw_metrics.csv"), fixture("cpu_metrics.csv"));
  const std::string dict = summary.to_dict();
  std::setlocale(LC_ALL, "C");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(summary.power_watts_mean, kMeanPower);
  EXPECT_THAT(dict, HasSubstr("\"gpu_util_mean_pct\": 41.4"));
  if (!is_german) GTEST_SKIP() << "this machine has no German locale: points in another one";
}

TEST(SummaryOfAFolder, ReportsHowManyBytesItHasRead) {
  const fakes::TempFolder folder;
  std::string cpu = content_of(fixture("cpu_metrics.csv"));
  while (cpu.size() < 3'500'000) cpu += cpu.substr(cpu.find('\n') + 1);
  folder.write("cpu_metrics.csv", cpu);
  std::vector<std::uint64_t> read;
  const ResourceSummary summary =
      summary_of_folder(folder.path(), [&](std::uint64_t bytes) { read.push_back(bytes); });
  EXPECT_EQ(read.size(), cpu.size() >> 20U) << "once in each MiB";
  EXPECT_TRUE(std::ranges::is_sorted(read));
  EXPECT_LE(read.back(), cpu.size());
  EXPECT_TRUE(summary.cpu_usr_mean_pct);
}

TEST(SummaryText, HasOneColumnWhateverANameIs) {
  ResourceSummary summary;
  for (const char* name : {"package_0", "a_domain_whose_name_has_forty_characters"}) {
    summary.domains.push_back({.name = name, .energy = {}, .mean_power = {}});
  }
  summary.machine.peak_memory_bytes = 1000;
  std::istringstream lines(summary.to_text());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_GT(line.size(), 42U) << line;
    EXPECT_EQ(line.substr(40, 2), "  ") << line;
    EXPECT_NE(line[42], ' ') << line;
  }
  EXPECT_EQ(count, 5) << summary.to_text();
}

}  // namespace
}  // namespace wattle
