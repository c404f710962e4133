// A gauge's window over a longer time than its history holds.
#include <gtest/gtest.h>

#include "usage/gpu/running_gauge_window.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr TimePoint kBegan{std::chrono::hours(1)};

/// Ten readings a second, of values that never repeat.
class LongRun {
 public:
  void play(seconds length) {
    for (const TimePoint end = now_ + length; now_ < end; now_ += milliseconds(100)) {
      raw_ = raw_ * 31 % 101;
      history_.add({.at = now_, .raw = raw_, .status = ReadStatus::ok});
      running_.advance(history_, kBegan);
      sum_ += static_cast<double>(raw_);
      ++count_;
    }
  }
  [[nodiscard]] GaugeWindow seen() const { return running_.until(history_, kBegan, now_); }
  [[nodiscard]] GaugeWindow kept() const { return history_.gauge_window(kBegan, now_); }
  [[nodiscard]] double mean() const { return sum_ / count_; }

 private:
  History history_{Channel{.domain = Domain::nvidia_gpu(0), .metric = Metric::utilization},
                   HistoryOptions{.period = milliseconds(100), .memory_limit = kMinTimelineBytes}};
  RunningGaugeWindow running_;
  TimePoint now_ = kBegan;
  std::uint64_t raw_ = 1;
  double sum_ = 0.0;
  double count_ = 0.0;
};

TEST(RunningGaugeWindow, HasAllOfARunOfWhichTheHistoryKeepsTheEndAlone) {
  LongRun run;
  run.play(std::chrono::hours(6));
  EXPECT_LT(run.kept().known, std::chrono::hours(5)) << "or the test shows nothing";
  const GaugeWindow seen = run.seen();
  EXPECT_EQ(seen.known, std::chrono::hours(6));
  const auto known_ns = static_cast<double>(seen.known.count());
  EXPECT_NEAR(static_cast<double>(seen.raw_ns) / known_ns, run.mean(), 1e-3);
}

TEST(RunningGaugeWindow, IsThatOfTheHistoryInAShortRun) {
  LongRun run;
  run.play(seconds(20));
  EXPECT_EQ(run.seen(), run.kept());
  EXPECT_EQ(run.seen().known, seconds(20));
}

}  // namespace
}  // namespace wattle
