// One file of a run monitor or of nvidia-smi, of any name, encoding and dialect.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "run_monitor/resource_summary.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::Not;

ResourceSummary summary_of(const std::string& content, const std::string& name = "log.txt") {
  const fakes::TempFolder folder;
  folder.write(name, content);
  return summary_of_file(folder.path() / name, {});
}

/// Eleven rows of one GPU of 412.5 W, a second apart, from a header and the form of a row: "{t}" is
/// the second in it.
std::string table(const std::string& header, const std::string& row) {
  std::string text = header;
  for (int i = 0; i <= 10; ++i) {
    std::string line = row;
    if (const std::size_t at = line.find("{n}"); at != std::string::npos) {
      line.replace(at, 3, std::to_string(i));
    }
    const std::string second = (i < 10 ? "0" : "") + std::to_string(i);
    line.replace(line.find("{t}"), 3, second);
    text += line + "\n";
  }
  return text;
}

void expect_truth(const ResourceSummary& summary) {
  ASSERT_EQ(summary.files.size(), 1U);
  EXPECT_EQ(summary.files[0].problem, "");
  EXPECT_EQ(summary.files[0].rows, 11U);
  ASSERT_TRUE(summary.power_watts_mean && summary.energy);
  EXPECT_DOUBLE_EQ(*summary.power_watts_mean, 412.5);
  EXPECT_NEAR(summary.energy->si(), 4125.0, 1e-6);
}

const std::string kPlain =
    table("timestamp, index, power.draw [W]\n", "2026/03/02 09:15:{t}.000, 0, 412.50 W");

TEST(SummaryOfFile, ReadsWhatNvidiaSmiWrites) { expect_truth(summary_of(kPlain)); }

TEST(SummaryOfFile, ReadsUtf16) {
  std::string little = "\xFF\xFE";
  std::string big = "\xFE\xFF";
  for (const char c : kPlain) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (const std::string& content : {little, big, little.substr(2), big.substr(2)}) {
    const ResourceSummary summary = summary_of(content);
    expect_truth(summary);
    EXPECT_EQ(summary.files[0].note, "UTF-16");
  }
}

TEST(SummaryOfFile, ReadsAByteOrderMark) { expect_truth(summary_of("\xEF\xBB\xBF" + kPlain)); }

TEST(SummaryOfFile, ReadsLinesThatEndInCrAlone) {
  std::string text = kPlain;
  std::ranges::replace(text, '\n', '\r');
  const ResourceSummary summary = summary_of(text);
  expect_truth(summary);
  EXPECT_EQ(summary.files[0].note, "lines end in CR");
}

TEST(SummaryOfFile, ReadsQuotedCells) {
  expect_truth(summary_of(table("\"timestamp\",\"index\",\"power.draw [W]\"\n",
                                R"("2026/03/02 09:15:{t}.000","0","412.50 W")")));
}

TEST(SummaryOfFile, ReadsTabs) {
  const ResourceSummary summary = summary_of(
      table("timestamp\tindex\tpower.draw [W]\n", "2026/03/02 09:15:{t}.000\t0\t412.50"));
  expect_truth(summary);
  EXPECT_EQ(summary.files[0].note, "cells between tabs");
}

TEST(SummaryOfFile, ReadsSemicolonsAndDecimalCommas) {
  expect_truth(summary_of(
      table("sep=;\ntimestamp;index;power.draw [W]\n", "2026/03/02 09:15:{t}.000;0;412,50")));
  expect_truth(
      summary_of(table("timestamp;index;power.draw [W]\n", "02.03.2026 09:15:{t};0;412,50")));
}

TEST(SummaryOfFile, ReadsWhatPandasWrites) {
  expect_truth(summary_of(
      table(",timestamp, index, power.draw [W]\n", "{n},2026-03-02 09:15:{t}, 0, 412.50 W")));
  const ResourceSummary nine = summary_of(
      table(",0,1,2,3,4,5,6,7,8\n", "{n},2026/03/02 09:15:{t}.000, 1, 2, 3, 4, 412.5, 6, 7, 8"));
  EXPECT_EQ(nine.files[0].rows, 11U);
  EXPECT_EQ(nine.power_watts_max, 412.5);
}

TEST(SummaryOfFile, ReadsTimesOfOtherForms) {
  for (const char* time : {"2026-03-02 09:15:{t}", "2026-03-02T09:15:{t}Z", "2.3.2026 09:15:{t}",
                           "17724429{t}", "17724429{t}000"}) {
    expect_truth(summary_of(table("timestamp,index,power.draw\n", std::string(time) + ",0,412.5")));
  }
}

TEST(SummaryOfFile, ReadsUnitsOfTheHeader) {
  expect_truth(summary_of(
      table("timestamp, index, power.draw [mW]\n", "2026/03/02 09:15:{t}.000, 0, 412500 mW")));
}

TEST(SummaryOfFile, NamesThePowerThatItTook) {
  const ResourceSummary summary =
      summary_of(table("timestamp, index, power.draw [W], power.draw.instant [W]\n",
                       "2026/03/02 09:15:{t}.000, 0, [N/A], 412.50 W"));
  expect_truth(summary);
  EXPECT_THAT(summary.to_text(), HasSubstr("power is power.draw.instant"));
  EXPECT_THAT(summary.to_json(), HasSubstr("\"note\": \"power is power.draw.instant"));
}

TEST(SummaryOfFile, RecognizesEachKindOfFile) {
  EXPECT_EQ(summary_of("#gpu, pwr, sm\n#Idx, W, %\n0, 60, 20\n").power_watts_mean, 60.0);
  EXPECT_EQ(summary_of("# gpu sm mem fb\n# Idx % % MB\n 0 20 5 1000\n").gpu_util_mean_pct, 20.0);
  EXPECT_EQ(summary_of("#gpu, sm, mem\n0, 20, 5\n").gpu_util_mean_pct, 20.0) << "no shares of CPUs";
  EXPECT_EQ(summary_of("timestamp,usr_pct,idle_pct\n2026-11-21T00:00:00.000+00:00,25.0,75.0\n")
                .cpu_usr_mean_pct,
            25.0);
  const std::string samples =
      "time,device,index,uuid,quantity,value\n"
      "2026-11-21T00:00:00.000+00:00,memory,,,used_bytes,5000\n";
  EXPECT_EQ(summary_of(samples, "hw_dmon.csv").machine.peak_memory_bytes, 5000U);
}

/// The problem of a file without a row.
std::string problem_of(const std::string& content) {
  const ResourceSummary summary = summary_of(content);
  EXPECT_EQ(summary.files.at(0).rows, 0U);
  EXPECT_FALSE(has_figures(summary));
  return summary.files.at(0).problem;
}

TEST(SummaryOfFile, NamesTheFirstRowAndWhatDidNotFit) {
  EXPECT_THAT(problem_of("timestamp, index, power.draw [W]\n1/2/2026 9:15, 0, 5\n"),
              HasSubstr("the first: \"1/2/2026 9:15, 0, 5\": '1/2/2026 9:15': which number"));
  EXPECT_THAT(problem_of("timestamp,device,GPU use (%)\n2026/03/02 09:15:00.000,card0,90\n"),
              HasSubstr("expected: utilization.gpu"));
  EXPECT_THAT(problem_of("to be or not to be\n"),
              HasSubstr("expected: rows of nvidia-smi --query-gpu or nvidia-smi dmon"));
  EXPECT_THAT(problem_of("timestamp, power.draw [W]\n"), HasSubstr("a header alone"));
}

TEST(SummaryOfFile, TakesNoOtherNumbersForSharesOfProcessorTime) {
  for (const char* content :
       {"time,loss,accuracy\n2026-11-21T00:00:00.000+00:00,25.0,75.0\n",
        "epoch,loss,accuracy\n0,1.5,2.5\n1,1.4,2.6\n", "0,1.5,2.5\n1,1.4,2.6\n",
        "2026-11-21T00:00:00.000+00:00,95.0,75.0\n"}) {
    EXPECT_THAT(problem_of(content), HasSubstr("no row can be read; the first: ")) << content;
  }
  EXPECT_EQ(summary_of("2026-11-21T00:00:00.000+00:00,25.0,75.0\n").cpu_usr_mean_pct, 25.0);
}

TEST(SummaryOfFile, TakesFourNumbersForDmonsByAHeaderOrTheNameAlone) {
  EXPECT_THAT(problem_of("1 2 3 4\n5 6 7 8\n"), HasSubstr("the first: \"1 2 3 4\""));
  EXPECT_EQ(summary_of("# gpu sm mem fb\n0 20 5 1000\n").gpu_util_mean_pct, 20.0);
  EXPECT_EQ(summary_of("0 20 5 1000\n", "hw_dmon.csv").gpu_util_mean_pct, 20.0);
}

TEST(SummaryOfFile, NamesWhatIsNoTable) {
  EXPECT_EQ(problem_of(""), "it is empty");
  EXPECT_THAT(problem_of("\x1F\x8B\x08 compressed\n"), HasSubstr("a gzip file"));
  EXPECT_THAT(problem_of(std::string(100'000, 'x') + "\n"), HasSubstr("longer than 64 KiB"));
  const ResourceSummary device = summary_of_file("/dev/zero", {});
  EXPECT_EQ(device.files.at(0).problem, "it is a device");
}

TEST(SummaryOfFile, SaysNothingOfAFolderThatHasADeviceInIt) {
  const fakes::TempFolder folder;
  std::filesystem::create_symlink("/dev/zero", folder.path() / "hw_metrics.csv");
  ASSERT_EQ(::mkfifo((folder.path() / "hw_dmon.csv").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.path() / "cpu_metrics.csv");
  const ResourceSummary summary = summary_of_folder(folder.path(), {});
  EXPECT_EQ(summary.files.at(0).problem, "it is a device");
  EXPECT_EQ(summary.files.at(1).problem, "it is a folder");
  EXPECT_EQ(summary.files.at(2).problem, "it is empty");
}

TEST(SummaryOfFile, DoesNotTakeRowNumbersForGpus) {
  std::string text = "index,timestamp,power.draw [W]\n";
  for (int i = 0; i < 40; ++i) {
    text += std::to_string(i) + ",2026-03-02 09:15:" + std::to_string(10 + i) + ",300\n";
  }
  const ResourceSummary summary = summary_of(text);
  EXPECT_EQ(summary.gpus.size(), 1U);
  EXPECT_THAT(summary.files[0].note, HasSubstr("row numbers skipped"));
}

/// What one of two hosts writes into a file that both have; each of its GPUs is GPU 0.
struct Host {
  int late_ms = 0;
  int total_mib = 81559;
  int used_mib = 40'000;
  int temperature = 60;
};

/// `name`: the column that names the GPUs, and what each host has in it.
ResourceSummary summary_of_hosts(const std::vector<Host>& hosts,
                                 const std::pair<std::string, std::string>& name = {"index", "0"}) {
  std::string text =
      "timestamp, " + name.first + ", memory.used, memory.total, power.draw, temperature.gpu\n";
  for (int i = 0; i < 40; ++i) {
    for (const Host& host : hosts) {
      const int ms = 10'000 + 1000 * i + host.late_ms;
      text += fmt::format("2026/03/02 09:15:{:02}.{:03}, {}, {}, {}, 300, {}\n", ms / 1000 % 60,
                          ms % 1000, name.second, host.used_mib, host.total_mib,
                          host.temperature + i / 20);
    }
  }
  return summary_of(text);
}

TEST(SummaryOfFile, DoesNotTakeTheGpusOfTwoHostsForOne) {
  const Host host{};
  EXPECT_EQ(summary_of_hosts({host}).files[0].problem, "");
  const auto expect_withheld = [&](const Host& other, const std::string& evidence) {
    const ResourceSummary summary = summary_of_hosts({host, other});
    EXPECT_TRUE(summary.gpus.empty()) << evidence;
    EXPECT_FALSE(summary.energy) << evidence;
    EXPECT_THAT(summary.files[0].problem, HasSubstr(evidence));
    EXPECT_THAT(summary.files[0].problem, HasSubstr("--query-gpu=uuid"));
  };
  expect_withheld({.late_ms = 300, .total_mib = 24564}, "memory.total is 81559 and 24564 MiB");
  expect_withheld({.late_ms = -2500}, "times go back again and again");
  expect_withheld({.late_ms = 300, .temperature = 50}, "alternate from row to row");
  expect_withheld({.late_ms = 300, .used_mib = 18'000}, "alternate from row to row");
}

TEST(SummaryOfFile, DoesNotTakeTheGpusOfTwoHostsForOneByANameThatBothGive) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"pci.bus_id", "00000000:01:00.0"}, {"index, pci.bus_id", "0, 00000000:01:00.0"},
      {"index, serial", "0, 0"},          {"index, serial", "0, [N/A]"},
      {"serial", "1320020000001"},        {"index, uuid", "0, [N/A]"}};
  for (const auto& name : names) {
    SCOPED_TRACE(name.first + ": " + name.second);
    EXPECT_EQ(summary_of_hosts({{}}, name).files[0].problem, "");
    const ResourceSummary summary =
        summary_of_hosts({{}, {.late_ms = 300, .total_mib = 24564}}, name);
    EXPECT_FALSE(summary.energy);
    EXPECT_THAT(summary.files[0].problem, HasSubstr("memory.total is 81559 and 24564 MiB"));
  }
  const ResourceSummary summary =
      summary_of_hosts({{}, {.late_ms = 300, .temperature = 50}}, names[0]);
  EXPECT_THAT(summary.files[0].problem,
              HasSubstr("the rows of pci.bus_id 00000000:01:00.0 are of more than one GPU"));
}

TEST(SummaryOfFile, DoesNotTakeGpusOfTwoNamesForOne) {
  std::string text = "timestamp, index, name, power.draw [W]\n";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("2026/03/02 09:15:{:02}.000, 0, {}, 300\n", 10 + i,
                        i % 2 == 0 ? "NVIDIA A100" : "NVIDIA H100");
  }
  EXPECT_THAT(summary_of(text).files[0].problem, HasSubstr("(the name changes)"));
}

TEST(SummaryOfFile, SaysWhyMostRowsAreDamaged) {
  const ResourceSummary summary =
      summary_of(kPlain + "2026/03/02 09:15:20.000, 0, twelve\nNVIDIA-SMI has failed\n");
  EXPECT_THAT(summary.files[0].note, HasSubstr("the first damaged row: power.draw is 'twelve'"));
}

TEST(SummaryText, HasTheMeanOfRowsWhoseEnergyIsUncertain) {
  const std::string text = summary_of(
                               "timestamp, power.draw [W]\n"
                               "2026/03/02 09:15:00.000, 300.00 W\n"
                               "2026/03/02 09:15:00.005, 300.00 W\n")
                               .to_text();
  EXPECT_THAT(text, HasSubstr(" 300.0 "));
  EXPECT_THAT(text, Not(HasSubstr(" 0 W")));
}

TEST(SummaryText, HasTheMeanPowerOfADomainWhoseEnergyIsUncertain) {
  const ResourceSummary summary = summary_of(
      "time,device,index,uuid,quantity,value\n"
      "2026-11-21T00:00:00.000+00:00,monitor,,,interval_s,2\n"
      "2026-11-21T00:00:10.000+00:00,package_0,0,,energy_j,40\n"
      "2026-11-21T00:00:10.000+00:00,package_0,0,,energy_uncertainty_j,100\n");
  ASSERT_EQ(summary.domains.size(), 1U);
  const double mean_w = summary.domains[0].mean_power.value().si();
  EXPECT_GT(mean_w, 1.0);
  EXPECT_THAT(summary.to_text(), HasSubstr(fmt::format(", {:.1f} W on average", mean_w)));
}

}  // namespace
}  // namespace wattle
