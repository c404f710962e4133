// What a new user types first: public values in a stream, a monitor with its folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;

template <class Value>
std::string printed(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

MeasuredEnergy energy() { return {.energy = Joules(12.5), .uncertainty = Joules(0.5)}; }

TEST(FirstTries, PrintAnEnergyWithItsUncertainty) {
  EXPECT_EQ(printed(energy()), "12.50 J ±0.50 J");
  MeasuredEnergy bound = energy();
  bound.unknown = Seconds(1.0);
  EXPECT_EQ(printed(bound), "at least 12.50 J ±0.50 J");
  EXPECT_EQ(printed(MeasuredEnergy{}), "unknown");
}

TEST(FirstTries, PrintTheFlagsOfAnEnergyBesideIt) {
  MeasuredEnergy partial = energy();
  partial.flags.set(Flag::gap);
  partial.flags.set(Flag::partial_coverage);
  EXPECT_EQ(printed(partial), "12.50 J ±0.50 J (gap, partial_coverage)");
  MeasuredEnergy lost;
  lost.flags.set(Flag::lost);
  EXPECT_EQ(printed(lost), "unknown (lost)");
}

TEST(FirstTries, PrintTheEnergyOfADomain) {
  DomainEnergy domain{.domain = "package_0", .energy = {}, .source = "perf", .contained_in = ""};
  static_cast<MeasuredEnergy&>(domain.energy) = energy();
  EXPECT_EQ(printed(domain), "package_0: 12.50 J ±0.50 J");
  EXPECT_EQ(printed(domain.energy), "12.50 J ±0.50 J");
}

TEST(FirstTries, PrintFlags) {
  Flags flags;
  EXPECT_EQ(printed(flags), "none");
  flags.set(Flag::gap);
  flags.set(Flag::lost);
  EXPECT_EQ(printed(flags), "gap, lost");
}

TEST(FirstTries, PrintASampleAndATrace) {
  const auto domains =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"package_0"});
  const EnergySample sample(TimePoint(), "load", Seconds(0.5), domains, {energy()});
  EXPECT_EQ(printed(sample), "load: 12.50 J ±0.50 J in 0.500 s (package_0: 12.50 J ±0.50 J)");
}

TEST(FirstTries, PrintATrackerBeforeAndAfterItsStop) {
  Tracker tracker;
  EXPECT_EQ(printed(tracker), "tracker: NEW");
  tracker.start();
  EXPECT_EQ(printed(tracker), "tracker: STARTED");
  tracker.stop();
  EXPECT_EQ(printed(tracker), tracker.to_text());
  EXPECT_EQ(printed(tracker.resource_usage()), tracker.to_text());
}

TEST(FirstTries, PrintAnEstimateAndARefusal) {
  EXPECT_EQ(printed(EnergyRange{Joules(17.0), Joules(46.0), Joules(210.0)}),
            "~46 J (17 J to 210 J)");
  EXPECT_EQ(printed(EnergyEstimate{.unknown = "no load"}), "no estimate: no load");
  EXPECT_EQ(printed(Refusal{.subject = "gpu", .reason = "no driver", .remedy = "install it"}),
            "gpu: no driver; install it");
}

TEST(FirstTries, PrintASummary) {
  EXPECT_EQ(printed(ResourceSummary{}), ResourceSummary{}.to_text());
}

TEST(FirstTries, TakeTheClockByItsName) {
  const TimePoint before = wattle::Clock::now();
  EXPECT_LE(to_unix(before), to_unix(wattle::Clock::now()));
}

TEST(FirstTries, GiveAMonitorItsFolderAtOnce) {
  const fakes::TempFolder folder;
  HardwareMonitor monitor((folder.path() / "logs").string().c_str(),
                          {.if_unavailable = IfUnavailable::ignore});
  monitor.start();
  EXPECT_TRUE(monitor.is_started());
  (void)monitor.stop();
}

TEST(FirstTries, NameTheFolderThatAMonitorLacks) {
  HardwareMonitor monitor({.if_unavailable = IfUnavailable::ignore});
  try {
    monitor.start();
    FAIL() << "started without a folder";
  } catch (const InvalidState& error) {
    EXPECT_THAT(error.what(), HasSubstr("start(folder)"));
  }
}

}  // namespace
}  // namespace wattle
