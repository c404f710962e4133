// `wattle summary`, of folders that a run monitor left.
#include <fmt/format.h>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int kNothingFound = 2;

class SummaryCommand : public CommandTest {
 protected:
  void write_files() const {
    folder_.write("hw_metrics.csv",
                  "2026/11/21 00:00:00.000, 10, 1, 1000, 81920, 100.5, 45, 1410, 1593\n"
                  "2026/11/21 00:00:02.000, 30, 3, 2000, 81920, 101.5, 45, 1410, 1593\n"
                  "2026/11/21 00:0");
    folder_.write("cpu_metrics.csv", "timestamp,usr_pct,idle_pct\n2026,25.0,75.0\n");
  }
};

TEST_F(SummaryCommand, ReportsTheFilesOfAFolder) {
  write_files();
  const Outcome outcome = run(wattle({"summary", folder_.path()}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr(" 2000 "), HasSubstr(" 100 "), HasSubstr("201 J ±"),
            HasSubstr("25.0 % user, 75.0 % idle"),
            HasSubstr("hw_metrics.csv: 2 rows, 1 damaged row skipped (GPUs by order of rows)\n"),
            HasSubstr("hw_dmon.csv: 0 rows: No such file or directory\n")));
}

TEST_F(SummaryCommand, HasTheEnergyThatTheMonitorCounted) {
  write_files();
  folder_.write("hw_samples.csv",
                "time,device,index,uuid,quantity,value\n"
                "2026-11-21T00:00:00.000+00:00,monitor,,,interval_s,2\n"
                "2026-11-21T00:00:10.000+00:00,nvidia_gpu_0,0,GPU-a,energy_j,1200.05\n"
                "2026-11-21T00:00:10.000+00:00,nvidia_gpu_0,0,GPU-a,energy_uncertainty_j,46\n"
                "2026-11-21T00:00:10.000+00:00,package_0,0,,energy_j,500\n"
                "2026-11-21T00:00:10.000+00:00,package_0,0,,energy_uncertainty_j,1\n"
                "2026-11-21T00:00:10.000+00:00,memory,,,used_bytes,5000000000\n");
  const Outcome outcome = run(wattle({"summary", folder_.path()}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1200 J ±46 J"), HasSubstr("500.0 J ±1.0 J"),
                                 HasSubstr("1700 J ±47 J (nvidia_gpu_0 + package_0)"),
                                 HasSubstr("5.000 GB used at most")));
  const Json json = parse_json(run(wattle({"summary", folder_.path(), "--json"})).out);
  EXPECT_EQ(json["all_gpus"]["energy_j"], 1200.05);
  EXPECT_EQ(json["all_gpus"]["energy_uncertainty_j"], 46.0);
  EXPECT_EQ(json["all_gpus"]["energy_method"], "counter");
  EXPECT_EQ(json["domains"][0]["name"], "package_0");
  EXPECT_EQ(json["machine"]["energy_j"], 1700.05);
}

TEST_F(SummaryCommand, PrintsOneLineOfJson) {
  write_files();
  const Json json = parse_json(
      run(wattle({"summary", folder_.path(), "--json", "--allocator-peak-mb", "2"})).out);
  EXPECT_EQ(json["schema"], "wattle.summary/1");
  EXPECT_EQ(json["all_gpus"]["mean_power_w"], 101.0);
  EXPECT_EQ(json["allocator_peak_bytes"], 2097152);
  EXPECT_EQ(json["files"][0]["bad_rows"], 1);
  EXPECT_EQ(json["files"][0]["unassigned_rows"], 0);
  EXPECT_EQ(json["files"][0]["gpus_by"], "order of rows");
  EXPECT_EQ(json["files"][1]["gpus_by"], nullptr);
}

TEST_F(SummaryCommand, SaysThatThereIsNoSuchFolder) {
  for (const Words& options : {Words{}, Words{"--json"}}) {
    const Outcome outcome = run(wattle(Words{"summary", path("nowhere")} + options));
    EXPECT_EQ(outcome.code(), kNothingFound);
    EXPECT_THAT(outcome.out, IsEmpty()) << "no table of nothing";
    EXPECT_THAT(outcome.err, AllOf(StartsWith("wattle summary: cannot read "),
                                   HasSubstr("nowhere: No such file or directory\n")));
  }
}

TEST_F(SummaryCommand, SaysThatAFolderHoldsNoRows) {
  std::filesystem::create_directory(path("empty"));
  const Outcome outcome = run(wattle({"summary", path("empty")}));
  EXPECT_EQ(outcome.code(), kNothingFound);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("wattle summary: no row can be read in "));
  for (const char* name : {"hw_metrics.csv", "cpu_metrics.csv", "hw_dmon.csv", "hw_samples.csv"}) {
    EXPECT_THAT(outcome.err,
                HasSubstr(std::string("\n  ") + name + ": No such file or directory\n"));
  }
}

TEST_F(SummaryCommand, AsksForAFolder) {
  const Outcome outcome = run(wattle({"summary"}));
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err,
              StartsWith("wattle summary: a folder or file is missing: wattle summary DIR\n"));
}

TEST_F(SummaryCommand, FailsWhereItCannotWrite) {
  write_files();
  Start start{.command = {"/bin/sh", "-c", "\"$0\" summary \"$1\" > /dev/full", wattle_program(),
                          folder_.path()}};
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write stdout"));
}

TEST_F(SummaryCommand, ReadsOneFileOfAnyName) {
  folder_.write("gpu power.log",
                "timestamp, index, power.draw [mW]\n"
                "2026/03/02 09:15:00.000, 0, 120000 mW\n"
                "2026/03/02 09:15:10.000, 0, 120000 mW\n");
  const Json json = parse_json(run(wattle({"summary", path("gpu power.log"), "--json"})).out);
  EXPECT_EQ(json["gpus"][0]["mean_power_w"], 120.0);
  EXPECT_EQ(json["gpus"][0]["energy_j"], 1200.0);
}

TEST_F(SummaryCommand, TakesTheNumberOfGpusThatIsGiven) {
  // A driver that needs 350 ms for each GPU: nothing in the rows shows that there are two.
  std::string rows;
  for (int i = 0; i < 50; ++i) {
    rows += fmt::format("2026/11/21 00:00:{:02}.000, 10, 1, 1000, 81920, 100, 45, 1410, 1593\n", i);
    rows += fmt::format("2026/11/21 00:00:{:02}.350, 30, 3, 1000, 81920, 300, 45, 1410, 1593\n", i);
  }
  folder_.write("gpus.csv", rows);
  const std::string path = folder_.path() / "gpus.csv";
  const Json without = parse_json(run(wattle({"summary", path, "--json"})).out);
  EXPECT_TRUE(without["all_gpus"]["energy_j"].is_null());
  EXPECT_THAT(without["files"][0]["problem"].get<std::string>(), HasSubstr("--gpus-in-file N"));
  const Json json = parse_json(run(wattle({"summary", path, "--json", "--gpus-in-file", "2"})).out);
  EXPECT_EQ(json["all_gpus"]["energy_j"], 49.0 * 400.0);
  EXPECT_EQ(json["files"][0]["gpus_by"], "order of rows, --gpus-in-file");

  const Outcome outcome = run(wattle({"summary", path, "--gpus-in-file", "0"}));
  EXPECT_EQ(outcome.code(), 64);
  EXPECT_THAT(outcome.err, HasSubstr("--gpus-in-file takes a number from 1 to 128, not '0'"));
}

TEST_F(SummaryCommand, ReadsStdin) {
  write_files();
  Start start{.command = {"/bin/sh", "-c", "cat \"$1/hw_metrics.csv\" | \"$0\" summary -",
                          wattle_program(), folder_.path()}};
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("-: 2 rows"));
}

TEST_F(SummaryCommand, FailsWhereNoColumnIsKnown) {
  folder_.write("hw_metrics.csv",
                "timestamp,device,Average Graphics Package Power (W),GPU use (%)\n"
                "2026/03/02 09:15:00.000,card0,237.0,90\n");
  for (const std::filesystem::path& input : {folder_.path(), path("hw_metrics.csv")}) {
    const Outcome outcome = run(wattle({"summary", input}));
    EXPECT_EQ(outcome.code(), kNothingFound);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr("expected: utilization.gpu, utilization.memory, "
                                       "memory.used, power.draw"));
  }
}

TEST_F(SummaryCommand, FailsWhereNoRowHasAValue) {
  folder_.write("hw_metrics.csv",
                "timestamp, index, power.draw [W]\n2026/03/02 09:15:00.000, 0, [N/A]\n");
  const Outcome outcome = run(wattle({"summary", folder_.path()}));
  EXPECT_EQ(outcome.code(), kNothingFound);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("1 row without a value"), HasSubstr("power.draw")));
}

TEST_F(SummaryCommand, EndsWhereAFileIsADevice) {
  std::filesystem::create_symlink("/dev/zero", path("hw_metrics.csv"));
  for (const std::filesystem::path& input : {folder_.path(), path("hw_metrics.csv")}) {
    const Outcome outcome = run(wattle({"summary", input}));
    EXPECT_EQ(outcome.code(), kNothingFound);
    EXPECT_THAT(outcome.err, HasSubstr("it is a device"));
  }
}

TEST_F(SummaryCommand, OtherCommandsReadNoDevicesEither) {
  for (const Words& words : {Words{"report"}, Words{"compare"}, Words{"history", "import"}}) {
    Words command = words + Words{"/dev/zero"};
    if (words.front() == "compare") command = command + Words{"/dev/zero"};
    const Outcome outcome = run(wattle(command));
    EXPECT_NE(outcome.code(), 0);
    EXPECT_THAT(outcome.err, HasSubstr("/dev/zero: it is a device")) << words.front();
  }
}

}  // namespace
}  // namespace wattle::integration
