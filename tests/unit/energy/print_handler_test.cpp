#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStdout;
using testing_samples::joules;
using testing_samples::nothing_known;
using testing_samples::sample;

std::string printed(const EnergySample& sample) {
  std::ostringstream out;
  PrintHandler(out).process(EnergyTrace({sample}));
  return out.str();
}

/// What pyJoules 0.5.2 (commit d0da6b2) printed for the same numbers.
TEST(PrintHandler, PrintsWhatPyJoulesPrints) {
  EXPECT_EQ(printed(sample("a", {{"package_0", joules(0.123456)}, {"nvidia_gpu_0", joules(0.004)}},
                           {.timestamp_unix_s = 1669000000.123456, .duration_s = 1e-5})),
            "begin timestamp : 1669000000.123456; tag : a; duration : 1e-05; "
            "package_0 : 123456.0; nvidia_gpu_0 : 4000\n");
}

TEST(PrintHandler, PrintsNoneForWhatIsUnknown) {
  EXPECT_EQ(printed(sample("a", {{"package_0", nothing_known()}, {"nvidia_gpu_0", nothing_known()}},
                           {.timestamp_unix_s = 1.0, .duration_s = 2.0})),
            "begin timestamp : 1.0; tag : a; duration : 2.0; package_0 : None; "
            "nvidia_gpu_0 : None\n");
}

TEST(PrintHandler, PrintsNoneForALowerBoundUnlessItPrintsDetails) {
  const MeasuredEnergy bound{.energy = Joules(600.0),
                             .uncertainty = Joules(61e-6),
                             .unknown = Seconds(0.5),
                             .flags = Flags::of(Flag::reset)};
  const EnergySample with_bound =
      sample("a", {{"package_0", bound}}, {.timestamp_unix_s = 1.0, .duration_s = 7.0});
  std::string message;
  set_log([&](std::string_view text) { message = text; });
  EXPECT_EQ(printed(with_bound),
            "begin timestamp : 1.0; tag : a; duration : 7.0; package_0 : None\n");
  EXPECT_THAT(message, HasSubstr("1 energy for the stream is a lower bound"));
  CaptureStdout();
  PrintHandler().process(EnergyTrace({with_bound}));
  (void)GetCapturedStdout();
  EXPECT_THAT(message, HasSubstr("1 energy for standard output is a lower bound"));
  set_log({});
  std::ostringstream out;
  PrintHandler(out, {.details = true}).process(EnergyTrace({with_bound}));
  EXPECT_EQ(out.str(),
            "begin timestamp : 1.0; tag : a; duration : 7.0; package_0 : 600000000.0 (+- 61.0, "
            "unknown 0.5 s, reset)\n");
}

TEST(PrintHandler, EndsTheLineAfterTheDurationWhereThereIsNoDomain) {
  EXPECT_EQ(printed(sample("", {}, {.timestamp_unix_s = 1.0, .duration_s = 2.0})),
            "begin timestamp : 1.0; tag : ; duration : 2.0\n");
}

TEST(PrintHandler, PrintsALineForEachSampleAndNothingForNone) {
  std::ostringstream out;
  PrintHandler handler(out);
  handler.process(EnergyTrace());
  EXPECT_EQ(out.str(), "");
  handler.process(EnergyTrace({sample("a", {}), sample("b", {})}));
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(PrintHandler, LetsNoTagMoveTheCursorOrBreakTheLine) {
  EXPECT_THAT(printed(sample("\x1b[2J\r\n\xff", {})), HasSubstr("tag : \\x1b[2J\\x0d\\x0a\\xff;"));
  EXPECT_THAT(printed(sample("a", {{"my\nsource", joules(1)}})), HasSubstr("; my\\x0asource : "));
}

TEST(PrintHandler, PrintsALongTagWhole) {
  const std::string tag(1'000'000, 'x');
  EXPECT_THAT(printed(sample(tag, {})), HasSubstr("tag : " + tag + "; duration"));
}

TEST(PrintHandler, PrintsToStandardOutputInOrderWithTheProgramsOwnLines) {
  CaptureStdout();
  std::printf("one\n");
  PrintHandler().process(EnergyTrace({sample("a", {}, {.timestamp_unix_s = 1.0})}));
  std::cout << "two\n";
  EXPECT_EQ(GetCapturedStdout(), "one\nbegin timestamp : 1.0; tag : a; duration : 1.0\ntwo\n");
}

/// Standard output is a full disk while it lives.
class FullStandardOutput {
 public:
  FullStandardOutput() : before_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    std::FILE* const full = std::fopen("/dev/full", "w");
    ::dup2(::fileno(full), STDOUT_FILENO);
    std::fclose(full);
  }
  ~FullStandardOutput() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    std::clearerr(stdout);
  }
  FullStandardOutput(const FullStandardOutput&) = delete;
  FullStandardOutput& operator=(const FullStandardOutput&) = delete;

 private:
  int before_;
};

TEST(PrintHandler, ReportsThatStandardOutputIsFull) {
  int error_number = 0;
  {
    const FullStandardOutput full;
    try {
      PrintHandler().process(testing_samples::many_samples(10'000));
    } catch (const WriteError& error) {
      error_number = error.error_number();
    }
  }
  EXPECT_EQ(error_number, ENOSPC);
}

/// Takes nothing.
class BrokenBuffer : public std::streambuf {};

TEST(PrintHandler, ReportsThatAStreamFails) {
  BrokenBuffer buffer;
  std::ostream out(&buffer);
  EXPECT_THROW(PrintHandler(out).process(EnergyTrace({sample("a", {})})), WriteError);
}

TEST(PrintHandler, ReportsInItsOwnWayThatAThrowingStreamFails) {
  BrokenBuffer buffer;
  std::ostream out(&buffer);
  out.exceptions(std::ios_base::badbit);
  EXPECT_THROW(PrintHandler(out).process(EnergyTrace({sample("a", {})})), WriteError);
}

TEST(PrintHandler, KeepsLinesWholeInManyThreads) {
  std::ostringstream out;
  PrintHandler handler(out);
  constexpr int kThreads = 16;
  constexpr int kEach = 50;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&handler, i] {
        for (int n = 0; n < kEach; ++n) {
          const std::string tag = std::to_string(i) + "/" + std::to_string(n);
          handler.process(EnergyTrace({sample(tag, {}, {.timestamp_unix_s = 1.0})}));
        }
      });
    }
  }
  std::multiset<std::string> expected;
  for (int i = 0; i < kThreads; ++i) {
    for (int n = 0; n < kEach; ++n) {
      expected.insert("begin timestamp : 1.0; tag : " + std::to_string(i) + "/" +
                      std::to_string(n) + "; duration : 1.0");
    }
  }
  std::multiset<std::string> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) lines.insert(line);
  EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace wattle
