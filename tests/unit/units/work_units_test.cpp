// The public class, on a machine that plays its counters in virtual time.
#include "wattle/work_units.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "energy/metered_machine.hpp"
#include "units/work_units_maker.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

class WorkUnitsTest : public testing::Test {
 protected:
  WorkUnits units(const WorkUnitsOptions& options = {.lag = 0ns}) {
    if (!is_drawn_)
      machine_.draws(Domain::package(0), Watts(40.0)).draws(Domain::dram(0), Watts(8.0));
    is_drawn_ = true;
    return detail::WorkUnitsMaker::units(machine_.domains(), options, machine_.clock());
  }
  void pass(WorkUnits& units, std::chrono::nanoseconds time) {
    for (const auto end = machine_.clock().at() + time; machine_.clock().at() < end;) {
      machine_.wait(10ms);
      (void)units.update();
    }
  }

  tests::MeteredMachine machine_;
  bool is_drawn_ = false;
};

TEST_F(WorkUnitsTest, DividesAllDomainsThatDoNotOverlap) {
  machine_.draws(Domain::core(0), Watts(30.0));
  WorkUnits own = units();
  EXPECT_EQ(own.domains(), (std::vector<std::string>{"package_0", "dram_0"}));
  WorkUnit a = own.begin("request");
  WorkUnit b = own.begin("request");
  pass(own, 1s);
  a.end();
  b.end();
  pass(own, 20ms);
  ASSERT_EQ(own.state(a.id()), UnitState::done);
  EXPECT_NEAR(own.result(a.id())->energy.energy->si(), 24.0, 0.3);
}

TEST_F(WorkUnitsTest, EndsAUnitOnce) {
  WorkUnits own = units();
  const std::uint64_t before = own.report().ended_twice;
  WorkUnit a = own.begin("request");
  EXPECT_TRUE(a.is_running());
  a.end();
  a.end();
  EXPECT_FALSE(a.is_running());
  pass(own, 20ms);
  const UnitsReport report = own.report();
  EXPECT_EQ(report.ended_twice - before, 1U);
  EXPECT_EQ(report.tags.front().count, 1U);
}

TEST_F(WorkUnitsTest, EndsAUnitWithItsObject) {
  WorkUnits own = units();
  try {
    const WorkUnit a = own.begin("request");
    throw std::runtime_error("the request failed");
  } catch (const std::runtime_error&) {
  }
  {
    WorkUnit moved;
    WorkUnit a = own.begin("request");
    moved = std::move(a);
  }
  pass(own, 20ms);
  EXPECT_EQ(own.report().running, 0U);
  EXPECT_EQ(own.report().tags.front().count, 2U);
}

TEST_F(WorkUnitsTest, ReportsUnitsThatHaveNotEnded) {
  WorkUnits own = units();
  const WorkUnit a = own.begin("request");
  pass(own, 100ms);
  const UnitsReport report = own.report();
  EXPECT_EQ(report.running, 1U);
  EXPECT_EQ(own.state(a.id()), UnitState::running);
  EXPECT_GT(report.domains.front().balance.running, Joules(0.0));
}

TEST_F(WorkUnitsTest, RefusesWeightsThatAreNone) {
  WorkUnits own = units();
  WorkUnit a = own.begin("request");
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    EXPECT_THROW((void)own.begin("request", wrong), InvalidArgument);
    EXPECT_THROW(a.phase("decode", wrong), InvalidArgument);
  }
  EXPECT_EQ(own.report().running, 1U);
}

TEST_F(WorkUnitsTest, IgnoresWorkThatIsNone) {
  WorkUnits own = units();
  WorkUnit a = own.begin("request");
  for (const double work : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(), 3.0}) {
    a.add(work);
  }
  a.end();
  a.add(5.0);
  pass(own, 20ms);
  EXPECT_EQ(own.report().tags.front().work, 3.0);
}

TEST_F(WorkUnitsTest, RefusesAGpuThatIsNotDivided) {
  WorkUnits own = units();
  EXPECT_THROW((void)own.begin("request", UnitOptions{.gpu = Domain::nvidia_gpu(0)}),
               InvalidArgument);
}

TEST_F(WorkUnitsTest, RefusesOptionsOutOfTheirRange) {
  EXPECT_THROW((void)units({.most_tags = 0}), InvalidArgument);
  tests::MeteredMachine other;
  other.draws(Domain::package(0), Watts(1.0));
  EXPECT_THROW((void)detail::WorkUnitsMaker::units(
                   other.domains(), {.idle_power = {{"nvidia_gpu_0", Watts(1.0)}}}, other.clock()),
               InvalidArgument);
}

TEST_F(WorkUnitsTest, GivesEachUnitToTheCallback) {
  std::vector<UnitEnergy> done;
  WorkUnits* all = nullptr;
  WorkUnits own = units({.lag = 0ns, .on_done = [&](const UnitEnergy& unit) {
                           done.push_back(unit);
                           (void)all->report();  // no lock is held
                         }});
  all = &own;
  WorkUnit a = own.begin("request", 2.0);
  a.add(7.0);
  pass(own, 100ms);
  a.end();
  EXPECT_TRUE(done.empty());
  pass(own, 20ms);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done.front().id, a.id());
  EXPECT_EQ(done.front().tag, "request");
  EXPECT_EQ(done.front().weight, 2.0);
  EXPECT_EQ(done.front().work, 7.0);
}

TEST_F(WorkUnitsTest, KeepsTheTraceOfAUnitUntilItsEnergyIsFinal) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  std::vector<std::string> done;
  WorkUnits own = units({.lag = 0ns, .on_done = [&](const UnitEnergy& unit) {
                           done.push_back(unit.tag + " " + unit.traceparent);
                         }});
  WorkUnit a = own.begin("a", UnitOptions{.traceparent = trace});
  WorkUnit b = own.begin("b", UnitOptions{.traceparent = "ff" + trace.substr(2)});
  WorkUnit c = own.begin("c");
  const UnitId id = a.id();
  pass(own, 100ms);
  a.end();
  b.end();
  c.end();
  pass(own, 50ms);
  std::sort(done.begin(), done.end());
  EXPECT_EQ(done, (std::vector<std::string>{"a " + trace, "b ", "c "}));
  EXPECT_EQ(own.result(id)->traceparent, trace);
  // The next unit in its place has none.
  WorkUnit next = own.begin("d");
  pass(own, 50ms);
  next.end();
  pass(own, 50ms);
  EXPECT_EQ(done.back(), "d ");
}

TEST_F(WorkUnitsTest, DoesNothingInAChild) {
  WorkUnits own = units();
  WorkUnit a = own.begin("request");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    WorkUnit b = own.begin("request");
    b.end();
    a.end();
    const bool is_right = b.id() == 0 && !own.update() && own.report().tags.empty();
    ::_exit(is_right ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  pass(own, 20ms);
  EXPECT_EQ(own.report().running, 1U) << "the child ended its copy alone";
}

TEST_F(WorkUnitsTest, MayBeOutlivedByUnits) {
  WorkUnit a;
  {
    WorkUnits own = units();
    a = own.begin("request");
  }
  a.end();
  EXPECT_FALSE(a.is_running());
  a.end();
}

TEST_F(WorkUnitsTest, CountsNothingAfterStop) {
  WorkUnits own = units();
  WorkUnit a = own.begin("request");
  pass(own, 100ms);
  a.end();
  machine_.wait(10ms);
  own.stop();
  own.stop();
  EXPECT_EQ(own.state(a.id()), UnitState::done);
  EXPECT_EQ(own.begin("request").id(), 0U);
}

TEST_F(WorkUnitsTest, ThatWasMovedRefusesTheRest) {
  WorkUnits own = units();
  const WorkUnits other = std::move(own);
  EXPECT_THROW((void)own.report(), InvalidArgument);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(other.report().running, 0U);
}

TEST_F(WorkUnitsTest, IsUnknownOfACounterThatFailsHalfWay) {
  auto counter = fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(40.0),
                                       machine_.clock().at());
  const TimePoint lost = machine_.clock().at() + 500ms;
  machine_.shows({counter.channel, [script = counter.script, lost](TimePoint now) {
                    fakes::Shown shown = script(now);
                    if (now > lost) shown.status = ReadStatus::gone;
                    return shown;
                  }});
  is_drawn_ = true;
  WorkUnits own = units();
  WorkUnit a = own.begin("request");
  pass(own, 5s);
  a.end();
  pass(own, 20ms);
  const UnitEnergy unit = *own.result(a.id());
  EXPECT_NEAR(unit.energy.unknown.count(), 4.5, 0.2);
  EXPECT_EQ(own.report().tags.front().unknown, 1U);
}

TEST_F(WorkUnitsTest, PrintsNoControlCharacterOfATag) {
  WorkUnits own = units();
  own.begin("a\x1b[31m\nb").end();
  pass(own, 20ms);
  std::ostringstream text;
  text << own.report();
  EXPECT_EQ(text.str().find('\x1b'), std::string::npos);
  EXPECT_NE(text.str().find("package_0: "), std::string::npos) << text.str();
}

}  // namespace
}  // namespace wattle
