// What starting `wattle run` costs, in system calls: they do not depend on how busy the machine is.
#include <algorithm>

#include "command.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class StartOfRun : public CommandTest {
 protected:
  /// The system calls of wattle itself, one a line; empty where strace does not work.
  std::string trace_of(const Words& options) {
    const std::string trace = path("trace").string();
    // On a busy machine even `true` takes longer than the usual interval.
    const Words traced = {"strace", "-o",      trace,        wattle_program(),
                          "run",    "--quiet", "--interval", "60"};
    const Outcome outcome = run({.command = traced + options + Words{"--", "true"}});
    return outcome.code() == 0 ? content_of(trace) : "";
  }
};

TEST_F(StartOfRun, TakesFewSystemCallsWithoutGpus) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes system calls of its own";
  constexpr int kMost = 150;
  std::string trace;
  // By chance the C library takes one more, for a random number.
  for (int tries = 0; tries < 3; ++tries) {
    trace = trace_of({"--sysfs", path("").string()});
    if (trace.empty()) GTEST_SKIP() << "strace does not work here";
    EXPECT_THAT(trace, HasSubstr("execve("));
    // The last line is "+++ exited with 0 +++".
    if (std::ranges::count(trace, '\n') - 1 <= kMost) return;
  }
  FAIL() << "more than " << kMost << " calls:\n" << trace;
}

TEST_F(StartOfRun, SearchesForNoLibraryWithoutAnNvidiaDevice) {
  const std::string trace = trace_of({"--procfs", path("").string(), "--sysfs", path("").string()});
  if (trace.empty()) GTEST_SKIP() << "strace does not work here";
  if (std::filesystem::exists("/dev/nvidiactl") || std::filesystem::exists("/dev/dxg") ||
      std::filesystem::exists("/dev/nvmap")) {
    GTEST_SKIP() << "this machine has a device of NVIDIA";
  }
  EXPECT_THAT(trace, Not(HasSubstr("libnvidia-ml")));
}

TEST_F(StartOfRun, OpensALibraryThatIsNamed) {
  const std::string named = path("named.so").string();
  const std::string trace = trace_of({"--nvml-library", named, "--procfs", path("").string()});
  if (trace.empty()) GTEST_SKIP() << "strace does not work here";
  EXPECT_THAT(trace, HasSubstr("\"" + named + "\""));
}

}  // namespace
}  // namespace wattle::integration
