// `wattle doctor --fix`: what it prints, and what it runs.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "command.hpp"
#include "fakes/perf_pmu.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kOpen = std::filesystem::perms::owner_all | std::filesystem::perms::group_read |
                       std::filesystem::perms::group_exec | std::filesystem::perms::others_read |
                       std::filesystem::perms::others_exec;

/// On a machine with the counters of powercap, and without those of perf.
class DoctorFix : public CommandTest {
 protected:
  void SetUp() override { tree_.add_zone("intel-rapl:0", "package-0"); }

  /// `wattle doctor --fix cpu OPTIONS` where commands are looked for in `bin` alone.
  [[nodiscard]] Start fix_cpu(const Words& options = {}) const {
    const System system = tree_.system();
    Start start =
        wattle(Words{"doctor", "--fix", "cpu", "--sysfs", system.sysfs, "--procfs", system.procfs} +
               options);
    start.environment["PATH"] = path("bin");
    return start;
  }
  /// A program that writes its arguments to the file `ran`, and ends with `status`.
  void make_setcap(int status) const {
    std::filesystem::create_directory(path("bin"));
    std::ofstream(path("bin/setcap"))
        << "#!/bin/sh\necho \"$@\" >>" << path("ran").string() << "\nexit " << status << '\n';
    std::filesystem::permissions(path("bin/setcap"), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] bool ran() const { return std::filesystem::exists(path("ran")); }

  fakes::PowercapTree tree_;
};

TEST_F(DoctorFix, PrintsAScriptAndRunsNothing) {
  make_setcap(0);
  const Outcome outcome = run(fix_cpu());
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("\n# Risk: "));
  EXPECT_THAT(outcome.out, HasSubstr("\nsetcap cap_dac_read_search+ep " + wattle_program() + "\n"));
  EXPECT_FALSE(ran());
}

/// Its only counter, of the platform, never moves: no command makes one of a processor of it.
TEST_F(DoctorFix, PrintsNothingToRunInAVirtualMachineWithoutCountersOfProcessors) {
  const fakes::PerfPmu pmu(tree_.root());
  pmu.add_event("energy-psys", fakes::kPsysEvent);
  std::filesystem::remove_all(tree_.system().sysfs / "class/powercap");
  tree_.set_cpu_info("vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n\n");
  const Outcome outcome = run(fix_cpu());
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("no command helps here: this is a virtual machine"));
}

TEST_F(DoctorFix, AppliedByRootRunsTheCommands) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes root";
  make_setcap(0);
  const Outcome outcome = run(fix_cpu({"--apply"}));
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  const std::string arguments = "cap_dac_read_search+ep " + wattle_program() + "\n";
  EXPECT_EQ(outcome.err, "+ setcap " + arguments);
  EXPECT_EQ(content_of(path("ran")), arguments);
}

TEST_F(DoctorFix, AppliedFailsWithTheCommandThatFailed) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes root";
  make_setcap(1);
  const Outcome outcome = run(fix_cpu({"--apply"}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr(" failed; the commands after it were not run\n"));
}

TEST_F(DoctorFix, AppliedNamesTheProgramThatIsMissing) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes root";
  const Outcome outcome = run(fix_cpu({"--apply"}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("cannot run setcap "));
}

TEST_F(DoctorFix, AppliedByAnotherUserRunsNothing) {
  make_setcap(0);
  Start start = fix_cpu({"--apply"});
  if (::geteuid() == 0) {
    // Where that user can execute it.
    std::filesystem::copy(wattle_program(), path("wattle"));
    std::filesystem::permissions(folder_.path(), kOpen);
    std::filesystem::permissions(tree_.root(), kOpen);
    start.command.front() = path("wattle");
    start.prepare = [] {
      constexpr uid_t kNobody = 65534;
      if (::setuid(kNobody) != 0) ::_exit(kNotExecutable);
    };
  }
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("--apply takes root"));
  EXPECT_FALSE(ran());
}

TEST_F(DoctorFix, SaysWhereNoCommandHelps) {
  const System system = tree_.system();
  std::filesystem::create_directories(system.sysfs / "bus/pci/devices");
  const Outcome outcome =
      run(wattle({"doctor", "--fix", "gpu", "--sysfs", system.sysfs, "--procfs", system.procfs}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(
      outcome.err,
      "wattle doctor: no command helps here: there is no GPU on the PCI bus of this machine\n");
}

TEST_F(DoctorFix, FindsGpusWithoutADriver) {
  const System system = tree_.system();
  const auto device = system.sysfs / "bus/pci/devices/0000:41:00.0";
  std::filesystem::create_directories(device);
  std::ofstream(device / "class") << "0x030200\n";
  std::ofstream(device / "vendor") << "0x10de\n";
  const Outcome outcome =
      run(wattle({"doctor", "--fix", "gpu", "--sysfs", system.sysfs, "--procfs", system.procfs}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("GPU 0000:41:00.0, which has none."));
  EXPECT_THAT(outcome.out, HasSubstr("\nmodprobe nvidia\n"));
}

}  // namespace
}  // namespace wattle::integration
