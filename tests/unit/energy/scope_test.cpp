#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "energy/metered_machine.hpp"
#include "fakes/powercap_tree.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using tests::MeteredMachine;

/// A handler of a user's own.
class Collector final : public EnergyHandler {
 public:
  void process(const EnergyTrace& trace) override {
    const std::scoped_lock lock(mutex_);
    traces.push_back(trace);
  }
  std::vector<EnergyTrace> traces;

 private:
  std::mutex mutex_;
};

class Broken final : public EnergyHandler {
 public:
  void process(const EnergyTrace&) override { throw std::runtime_error("no ink"); }
};

class EnergyScopeTest : public testing::Test {
 protected:
  EnergyScopeTest() {
    machine_.draws(Domain::package(0), Watts(100.0));
    set_log([this](std::string_view message) { log_.emplace_back(message); });
  }
  ~EnergyScopeTest() override { set_log({}); }

  MeteredMachine machine_;
  Collector collector_;
  Broken broken_;
  std::vector<std::string> log_;
};

TEST_F(EnergyScopeTest, HandsItsTraceOverAtTheEndOfTheBlock) {
  {
    EnergyScope scope(collector_, machine_.meter());
    machine_.wait(1s);
    scope.record("train");
    machine_.wait(2s);
    EXPECT_TRUE(collector_.traces.empty());
  }
  ASSERT_EQ(collector_.traces.size(), 1U);
  const EnergyTrace& trace = collector_.traces.front();
  EXPECT_EQ(trace.size(), 2U);
  EXPECT_NEAR(trace["start"].energy("package_0").energy->si(), 100.0, 0.1);
  EXPECT_NEAR(trace["train"].energy("package_0").energy->si(), 200.0, 0.1);
}

TEST_F(EnergyScopeTest, HandsItsTraceOverWhereTheBodyThrows) {
  try {
    EnergyScope scope(collector_, machine_.meter());
    machine_.wait(1s);
    throw std::runtime_error("body");
  } catch (const std::runtime_error&) {
  }
  ASSERT_EQ(collector_.traces.size(), 1U);
  EXPECT_NEAR(collector_.traces[0]["start"].energy("package_0").energy->si(), 100.0, 0.1);
}

TEST_F(EnergyScopeTest, SaysInTheLogWhatItsDestructorCannotThrow) {
  { const EnergyScope scope(broken_, machine_.meter()); }
  EXPECT_EQ(
      log_,
      (std::vector<std::string>{"the energy of a scope was measured, but not handled: no ink"}));
}

TEST_F(EnergyScopeTest, ThrowsAtCloseWhatTheHandlerThrows) {
  {
    EnergyScope scope(broken_, machine_.meter());
    EXPECT_THROW(scope.close(), std::runtime_error);
  }
  EXPECT_TRUE(log_.empty()) << "it was said already";
}

TEST_F(EnergyScopeTest, ClosesOnce) {
  {
    EnergyScope scope(collector_, machine_.meter());
    scope.close();
    scope.close();
  }
  EXPECT_EQ(collector_.traces.size(), 1U);
}

TEST_F(EnergyScopeTest, TakesABodyThatLeftTheMeterStopped) {
  {
    EnergyScope scope(collector_, machine_.meter());
    machine_.wait(1s);
    scope.meter().stop();
    machine_.wait(1h);
  }
  EXPECT_EQ(collector_.traces[0]["start"].duration(), Seconds(1.0));
}

// Functions.

template <class Function>
auto measured_on(MeteredMachine& machine, EnergyHandler& handler, Function function,
                 std::string tag = "") {
  return Measured<Function>(std::move(function), handler, machine.meter(), std::move(tag));
}

TEST_F(EnergyScopeTest, AMeasuredFunctionReturnsWhatItReturns) {
  const auto add = measured_on(
      machine_, collector_,
      [&](int a, const int& b) {
        machine_.wait(1s);
        return a + b;
      },
      "add");
  EXPECT_EQ(add(1, 2), 3);
  EXPECT_EQ(add(3, 4), 7);
  ASSERT_EQ(collector_.traces.size(), 2U) << "one trace a call";
  EXPECT_EQ(collector_.traces[1].size(), 1U);
  EXPECT_NEAR(collector_.traces[1]["add"].energy("package_0").energy->si(), 100.0, 0.1);
}

TEST_F(EnergyScopeTest, AMeasuredFunctionReturnsReferencesAsReferences) {
  int value = 0;
  const auto same = measured_on(machine_, collector_, [](int& x) -> int& { return x; });
  EXPECT_EQ(&same(value), &value);
}

TEST_F(EnergyScopeTest, AMeasuredFunctionThatWasMovedRefusesToBeCalled) {
  auto first = measured_on(machine_, collector_, [] { return 42; });
  const auto second = std::move(first);
  EXPECT_EQ(second(), 42);
  EXPECT_THROW((void)first(), InvalidArgument);  // NOLINT(bugprone-use-after-move): what is tested
}

TEST_F(EnergyScopeTest, AMeasuredFunctionThatThrowsIsHandled) {
  const auto fail = measured_on(machine_, collector_, [&] {
    machine_.wait(1s);
    throw std::runtime_error("body");
  });
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(collector_.traces.size(), 1U);
}

TEST_F(EnergyScopeTest, AMeasuredFunctionMayCallItself) {
  std::function<void(int)> dive;
  const auto measured_dive = measured_on(machine_, collector_, [&](int depth) {
    machine_.wait(1s);
    if (depth > 1) dive(depth - 1);
  });
  dive = measured_dive;
  dive(3);
  ASSERT_EQ(collector_.traces.size(), 3U);
  const auto seconds = [&](std::size_t i) {
    return collector_.traces[i][std::size_t{0}].duration().count();
  };
  EXPECT_EQ(seconds(0), 1.0) << "the innermost ends first";
  EXPECT_EQ(seconds(1), 2.0);
  EXPECT_EQ(seconds(2), 3.0);
}

/// On the machine's own clock, over files.
class EnergyOfATree : public testing::Test {
 protected:
  EnergyOfATree() {
    tree_.add_zone("intel-rapl:0", "package-0", fakes::kPackageUnit, 1000);
    options_.system = tree_.system();
  }
  void spend(std::uint64_t ticks) {
    fakes::set_energy_uj(tree_.zone_path("intel-rapl:0"), fakes::kPackageUnit.energy_uj(ticks));
  }

  fakes::PowercapTree tree_;
  EnergyMeterOptions options_;
};

TEST_F(EnergyOfATree, IsWhatAFunctionCost) {
  const auto result = measure(
      [&] {
        spend(1000 + 16384);
        return 42;
      },
      options_);
  EXPECT_EQ(result.result, 42);
  EXPECT_DOUBLE_EQ(result.sample.energy("package_0").energy->si(), 1.0);
}

TEST_F(EnergyOfATree, IsWhatAFunctionCostThatReturnsNothing) {
  const auto result = measure([&] { spend(1000 + 2 * 16384); }, options_);
  EXPECT_DOUBLE_EQ(result.sample.energy("package_0").energy->si(), 2.0);
}

TEST_F(EnergyOfATree, GoesFromAScopeAndAFunctionIntoOneFile) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "energy.csv";
  CsvHandler table(path);
  {
    EnergyScope scope(table, options_);
    spend(1000 + 16384);
    scope.record("next");
    spend(1000 + 3 * 16384);
  }
  const Measured<std::function<void()>> work([&] { spend(1000 + 6 * 16384); }, table,
                                             EnergyMeter(options_), "work");
  work();
  table.save_data();
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, testing::MatchesRegex("timestamp;tag;duration;package_0\n"
                                          "[0-9.]+;start;[0-9.e-]+;1000000.0\n"
                                          "[0-9.]+;next;[0-9.e-]+;2000000.0\n"
                                          "[0-9.]+;work;[0-9.e-]+;3000000.0\n"));
}

TEST_F(EnergyOfATree, IsMeasuredBySixteenThreadsThroughOneHandler) {
  Collector collector;
  const EnergyMeter meter(options_);
  std::atomic<int> calls{0};
  const Measured<std::function<void()>> work([&] { ++calls; }, collector, meter.another(), "w");
  constexpr int kThreads = 16;
  constexpr int kEach = 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kEach; ++k) work();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, kThreads * kEach);
  EXPECT_EQ(collector.traces.size(), std::size_t{kThreads} * kEach);
}

}  // namespace
}  // namespace wattle
