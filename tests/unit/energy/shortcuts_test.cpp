// What a user of a meter writes first: domains in braces, totals, plain numbers, printed joules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "samples.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing_samples::joules;
using testing_samples::nothing_known;
using testing_samples::sample;

void load() {}
const auto kLambda = [] {};

template <class Value>
std::string printed(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

EnergyTrace two_samples() {
  return EnergyTrace({sample("load", {{"package_0", joules(30.0)}, {"core_0", joules(20.0)}}),
                      sample("train", {{"package_0", joules(50.0)}, {"core_0", joules(5.0)}})});
}

TEST(PrintedValues, HaveAUnitAndFourDigits) {
  EXPECT_EQ(printed(Joules(50.1234)), "50.12 J");
  EXPECT_EQ(printed(Watts(12'345.6)), "12.35 kW");
  EXPECT_EQ(to_string(Joules(0.05)), "50.00 mJ");
  EXPECT_EQ(printed(Domain::dram(1)), "dram_1");
}

TEST(TotalOfASample, AddsWhatDoesNotOverlap) {
  const EnergySample all =
      sample("", {{"package_0", {.energy = Joules(3.0), .uncertainty = Joules(0.3)}},
                  {"dram_0", {.energy = Joules(1.0), .uncertainty = Joules(0.4)}},
                  {"core_0", joules(2.0)},
                  {"psys", joules(9.0)},
                  {"Wall meter", joules(10.0)}});
  const MeasuredEnergy total = all.total();
  EXPECT_EQ(total.energy, Joules(4.0));
  EXPECT_DOUBLE_EQ(total.uncertainty.si(), 0.5);
  EXPECT_EQ(total.unknown, Seconds(0));
}

TEST(TotalOfASample, IsALowerBoundWhereADomainIsUnknown) {
  const MeasuredEnergy total =
      sample("", {{"package_0", joules(3.0)}, {"nvidia_gpu_0", nothing_known()}}).total();
  EXPECT_EQ(total.energy, Joules(3.0));
  EXPECT_EQ(total.unknown, Seconds(1.0));
}

TEST(TotalOfASample, IsUnknownWithoutADomainThatCounts) {
  const MeasuredEnergy total = sample("", {{"core_0", joules(3.0)}}).total();
  EXPECT_EQ(total.energy, std::nullopt);
  EXPECT_EQ(total.unknown, Seconds(1.0));
}

TEST(Trace, HasAFrontAndABack) {
  EXPECT_EQ(two_samples().front().tag(), "load");
  EXPECT_EQ(two_samples().back().tag(), "train");
  EXPECT_EQ(two_samples().back().energy(Domain::core(0)).energy, Joules(5.0));
  EXPECT_THROW((void)EnergyTrace().back(), NoSuchSample);
}

TEST(IdlePowers, AreTakenOffTimesTheDuration) {
  const EnergyTrace trace = two_samples();
  const EnergyTrace net =
      remove_idle(trace, {{"package_0", Watts(10.0)}, {"core_0", Watts(6.0)}, {"psys", Watts(1)}});
  EXPECT_EQ(net["load"].energy("package_0").energy, Joules(20.0));
  EXPECT_EQ(net["train"].energy("core_0").energy, Joules(-1.0));
  EXPECT_EQ(trace, two_samples()) << "the trace itself is not changed";
}

TEST(IdlePowers, AreNeededForEachDomain) {
  EnergyTrace trace = two_samples();
  EXPECT_THROW(trace.remove_idle({{"package_0", Watts(10.0)}}), InvalidArgument);
  EXPECT_EQ(trace, two_samples());
}

TEST(IdlePowers, AreNotTakenOffOfTimeThatIsUnknown) {
  EnergyTrace trace(
      {sample("", {{"package_0", {.energy = Joules(9.0), .unknown = Seconds(0.5)}}})});
  trace.remove_idle({{"package_0", Watts(10.0)}});
  EXPECT_EQ(trace.front().energy("package_0").energy, Joules(4.0));
}

TEST(Guards, CanStandInBraces) {
  const auto is_long = [](const EnergySample& sample) { return sample.tag() == "load"; };
  EXPECT_THAT(clean_data(two_samples(), {is_long}), SizeIs(1));
  EXPECT_THAT(clean_data(two_samples()), SizeIs(2));
}

TEST(NameOfAFunction, IsItsTag) {
  EXPECT_EQ(detail::name_of<load>(), "load");
  EXPECT_EQ(detail::name_of<&EnergyTrace::empty>(), "empty");
  EXPECT_EQ(detail::name_of<kLambda>(), "");
}

class ShortcutsOfAMeter : public testing::Test {
 protected:
  System with_a_package() {
    tree_.add_zone("intel-rapl:0", "package-0");
    return tree_.system();
  }
  EnergyTrace measured(EnergyMeterOptions options) {
    EnergyMeter meter(std::move(options));
    meter.start();
    meter.stop();
    return meter.trace();
  }
  fakes::PowercapTree tree_;
};

TEST_F(ShortcutsOfAMeter, WithoutSensorsEverythingIsUnknownWithAReason) {
  const EnergyMeterOptions options{.if_unavailable = IfUnavailable::ignore,
                                   .system = tree_.system()};
  const EnergyTrace trace = measured(options);
  EXPECT_EQ(trace.front().total().energy, std::nullopt);
  ASSERT_FALSE(trace.missing().empty());
  EXPECT_FALSE(trace.missing().front().reason.empty());
  EXPECT_THROW(measured({.system = tree_.system()}), NoSuchDevice);
}

TEST_F(ShortcutsOfAMeter, ADomainThatIsNotThereIsUnknownWithAReason) {
  const EnergyTrace trace = measured({.domains = {{Domain::package(0), Domain::package(7)}},
                                      .if_unavailable = IfUnavailable::ignore,
                                      .system = with_a_package()});
  EXPECT_TRUE(trace.front().energy("package_0").energy);
  EXPECT_FALSE(trace.front().energy("package_7").energy);
  EXPECT_EQ(trace.missing().back().subject, "package_7");
  EXPECT_EQ(trace.missing().back().reason, "this machine has no such domain; it has: package_0");
}

TEST_F(ShortcutsOfAMeter, SharedMetersOpenTheirSensorsOnce) {
  const System system = with_a_package();
  const auto first = EnergyMeter::shared({.system = system});
  const auto second = EnergyMeter::shared({.default_tag = "other", .system = system});
  const auto aligned = EnergyMeter::shared({.aligned = true, .system = system});
  EXPECT_EQ(first.domains(), second.domains()) << "one list, because one set of sensors";
  EXPECT_NE(first.domains(), aligned.domains());
}

}  // namespace
}  // namespace wattle
