#include "usage/process/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// As proc(5) has it: fields 14 to 17 are the times.
std::string stat_line(int pid, std::string_view name, char state, int parent,
                      std::string_view times = "100 20 3000 400") {
  return std::to_string(pid) + " (" + std::string(name) + ") " + state + " " +
         std::to_string(parent) + " 1 1 0 -1 4194560 7 8 9 10 " + std::string(times) +
         " 20 0 1 0 12345 1000000 250 18446744073709551615\n";
}

TEST(ProcessStat, GivesWhatWattleUses) {
  const auto process = parse_process_stat(stat_line(4711, "make", 'S', 42));
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 4711);
  EXPECT_EQ(process->name, "make");
  EXPECT_EQ(process->state, 'S');
  EXPECT_EQ(process->parent, 42);
  EXPECT_EQ(process->user, 100U);
  EXPECT_EQ(process->system, 20U);
  EXPECT_EQ(process->waited_user, 3000U);
  EXPECT_EQ(process->waited_system, 400U);
  EXPECT_EQ(process->threads, 1U);
  EXPECT_EQ(process->start_time, 12345U);
  EXPECT_EQ(process->address_bytes, 1000000U);
}

TEST(Statm, IsInBytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto memory = parse_statm("1000 250 100 1 0 200 0\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->rss_bytes, 250 * page);
  EXPECT_EQ(memory->shared_bytes, 100 * page);
}

TEST(Statm, IsAbsentInGarbage) {
  for (const char* text : {"", "\n", "1", "1 2", "1 x 3", "1 -2 3", "1 18446744073709551615 3"}) {
    EXPECT_FALSE(parse_statm(text)) << text;
  }
}

constexpr std::string_view kRollup =
    "5581-7ffd ---p 00000000 00:00 0 [rollup]\nRss: 1000 kB\nPss: 700 kB\nPss_Dirty: 9 kB\n"
    "Shared_Clean: 500 kB\nPrivate_Clean: 100 kB\nPrivate_Dirty: 400 kB\nSwap: 0 kB\n";

TEST(SmapsRollup, CountsKilobytesOf1024Bytes) {
  const auto memory = parse_smaps_rollup(kRollup);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->rss_bytes, 1'024'000U);
  EXPECT_EQ(memory->pss_bytes, 716'800U);
  EXPECT_EQ(memory->private_bytes, 512'000U) << "clean and dirty";
}

TEST(SmapsRollup, IsAbsentWhereAnythingIsMissing) {
  for (std::size_t length = 0; length < kRollup.find("400 kB"); ++length) {
    EXPECT_FALSE(parse_smaps_rollup(kRollup.substr(0, length))) << length;
  }
  EXPECT_FALSE(
      parse_smaps_rollup("x\nRss: 18446744073709551615 kB\nPss: 1 kB\n"
                         "Private_Clean: 1 kB\nPrivate_Dirty: 1 kB\n"));
}

TEST(ProcessStat, DistinguishesAProcessThatHasEndedFromOneWhoseFirstThreadHasLeft) {
  EXPECT_FALSE(has_ended({.state = 'R', .threads = 1}));
  EXPECT_TRUE(has_ended({.state = 'Z', .threads = 1}));
  EXPECT_TRUE(has_ended({.state = 'X', .threads = 0}));
  EXPECT_FALSE(has_ended({.state = 'Z', .threads = 2})) << "the others go on";
}

TEST(ProcessStat, TakesNamesOfBlanksAndParentheses) {
  for (const char* name : {"a b", "(sd-pam)", ")", "(", "x) S 1 (y", ") R 1 1 1", "", " "}) {
    const auto process = parse_process_stat(stat_line(7, name, 'R', 1));
    ASSERT_TRUE(process) << name;
    EXPECT_EQ(process->name, name);
    EXPECT_EQ(process->state, 'R');
    EXPECT_EQ(process->parent, 1);
  }
}

TEST(ProcessStat, MakesNamesPrintable) {
  EXPECT_EQ(parse_process_stat(stat_line(7, "a\nb", 'R', 1))->name, R"(a\x0ab)");
  EXPECT_EQ(parse_process_stat(stat_line(7, "\x1b[2J\xff", 'R', 1))->name, R"(\x1b[2J\xff)");
}

TEST(ProcessStat, TakesNoNumberThatMeansAGroup) {
  const std::string line = stat_line(1, "x", 'R', 1);
  EXPECT_TRUE(parse_process_stat("2147483647" + line.substr(1)));
  EXPECT_FALSE(parse_process_stat("2147483648" + line.substr(1)));
  EXPECT_FALSE(parse_process_stat("4294967295" + line.substr(1))) << "-1, which means everybody";
}

TEST(ProcessStat, IsAbsentInGarbage) {
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("1"), std::string("1 (x)"),
        std::string("1 (x) R"), std::string("1 (x) R 1 1 1"), std::string(") (1 R 1"),
        std::string("x (x) R 1 1 1 0 -1 4 7 8 9 10 1 2 3 4"), stat_line(1, "x", 'R', -1),
        stat_line(1, "x", 'R', 1, "100 20 -1 400"), stat_line(1, "x", 'R', 1, "a b c d"),
        std::string("1 (x) RR 1 1 1 0 -1 4 7 8 9 10 1 2 3 4")}) {
    EXPECT_FALSE(parse_process_stat(text)) << text;
  }
}

TEST(ProcessIo, IsReadAndWrittenThenOfStorage) {
  EXPECT_EQ(parse_process_io("rchar: 4292\nwchar: 17\nsyscr: 13\nsyscw: 1\nread_bytes: 8192\n"
                             "write_bytes: 4096\ncancelled_write_bytes: 5\n"),
            (IoCounts{4292, 17, 8192, 4096}));
}

TEST(ProcessIo, IsAbsentInGarbage) {
  for (const char* text :
       {"", "rchar: 1\nwchar: 2\nread_bytes: 3\n",
        "rchar: x\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n",
        "rchar: 9223372036854775808\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n"}) {
    EXPECT_FALSE(parse_process_io(text)) << text;
  }
}

TEST(Switches, AreVoluntaryThenInvoluntary) {
  EXPECT_EQ(parse_switches("Name:\tx\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t12\n"
                           "nonvoluntary_ctxt_switches:\t3\n"),
            (SwitchCounts{12, 3}));
  EXPECT_FALSE(parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t12\n"));
}

TEST(PeakRss, IsTakenFromTheStatus) {
  EXPECT_EQ(parse_peak_rss("Name:\tmake\nVmPeak:\t 9 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1000 kB\n"),
            1234U * 1024);
}

TEST(PeakRss, IsAbsentWhereTheStatusDoesNotSay) {
  for (const char* text : {"", "Name:\tkthreadd\n", "VmHWM:\n", "VmHWM: x kB\n", "VmHWM: -1 kB\n",
                           "XVmHWM: 1 kB\n", "VmHWM: 18446744073709551615 kB\n"}) {
    EXPECT_EQ(parse_peak_rss(text), std::nullopt) << text;
  }
}

/// A procfs whose processes the test makes; this one is number 100.
class LiveDescendants : public testing::Test {
 protected:
  LiveDescendants() {
    std::filesystem::create_symlink("100", folder_.path() / "self");
    add(100, 1);
  }
  void add(int pid, int parent, char state = 'S', std::string_view name = "x") {
    folder_.write(std::to_string(pid) + "/stat", stat_line(pid, name, state, parent));
  }
  [[nodiscard]] std::vector<LiveProcess> find() const {
    System system;
    system.procfs = folder_.path();
    auto found = live_descendants(system);
    EXPECT_TRUE(found);
    return found.value_or(std::vector<LiveProcess>{});
  }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> pids;
    for (const LiveProcess& process : find()) pids.push_back(process.pid);
    return pids;
  }

  fakes::TempFolder folder_;
};

TEST_F(LiveDescendants, AreNoneOfAProcessWithoutChildren) { EXPECT_THAT(pids(), IsEmpty()); }

TEST_F(LiveDescendants, AreChildrenAndTheirs) {
  add(101, 100);
  add(102, 100);
  add(203, 101);
  add(304, 203);
  add(400, 1);
  add(401, 400);
  EXPECT_THAT(pids(), UnorderedElementsAre(101, 102, 203, 304));
}

TEST_F(LiveDescendants, AreDescribed) {
  add(101, 100, 'S', "worker");
  folder_.write("101/status", "Name:\tworker\nVmHWM:\t    1000 kB\n");
  const std::vector<LiveProcess> found = find();
  ASSERT_EQ(found.size(), 1U);
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(found[0].name, "worker");
  EXPECT_FALSE(found[0].ended);
  EXPECT_DOUBLE_EQ(found[0].cpu_user.count(), 3100.0 / ticks_per_s) << "with what it waited for";
  EXPECT_DOUBLE_EQ(found[0].cpu_system.count(), 420.0 / ticks_per_s);
  EXPECT_EQ(found[0].peak_rss_bytes, 1000U * 1024);
}

TEST_F(LiveDescendants, SayWhichHaveEnded) {
  add(101, 100, 'Z');
  ASSERT_EQ(find().size(), 1U);
  EXPECT_TRUE(find()[0].ended);
  EXPECT_EQ(find()[0].peak_rss_bytes, std::nullopt) << "its memory is gone";
}

TEST_F(LiveDescendants, EndInATreeOfCircles) {
  add(101, 100);
  add(102, 103);
  add(103, 102);
  add(100, 101);  // this process, as its own grandchild
  EXPECT_THAT(pids(), UnorderedElementsAre(101, 100));
}

TEST_F(LiveDescendants, BearWhatIsNoProcess) {
  folder_.write("101/stat", "");
  folder_.write("102/stat", "garbage");
  std::filesystem::create_directory(folder_.path() / "103");  // it ended meanwhile
  folder_.write("104x/stat", stat_line(104, "x", 'S', 100));
  folder_.write("meminfo", "MemTotal: 1 kB\n");
  add(105, 100);
  EXPECT_THAT(pids(), ElementsAre(105));
}

TEST_F(LiveDescendants, AreUnknownWhereProcfsDoesNotShowThisProcess) {
  System system;
  system.procfs = folder_.path() / "nowhere";
  EXPECT_FALSE(live_descendants(system));
  std::filesystem::remove(folder_.path() / "self");
  system.procfs = folder_.path();
  EXPECT_FALSE(live_descendants(system));
  std::filesystem::create_symlink("nonsense", folder_.path() / "self");
  EXPECT_FALSE(live_descendants(system));
}

}  // namespace
}  // namespace wattle
