#include "wattle/energy_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "sanitized.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_samples::domains;
using testing_samples::joules;
using testing_samples::nothing_known;
using testing_samples::sample;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> tags_of(const EnergyTrace& trace) {
  std::vector<std::string> tags;
  for (const EnergySample& each : trace) tags.push_back(each.tag());
  return tags;
}

EnergyTrace abc() {
  return EnergyTrace({sample("a", {{"d1", joules(1)}}), sample("b", {{"d1", joules(2)}}),
                      sample("c", {{"d1", joules(3)}})});
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(EnergySample, HoldsWhatItWasMadeOf) {
  const EnergySample made = sample("a", {{"package_0", joules(1.5)}, {"dram_0", joules(0.25)}},
                                   {.timestamp_unix_s = 1669000000.5, .duration_s = 2.0});
  EXPECT_EQ(made.timestamp_unix_s(), 1669000000.5);
  EXPECT_EQ(made.tag(), "a");
  EXPECT_EQ(made.duration(), Seconds(2));
  EXPECT_THAT(*made.domains(), ElementsAre("package_0", "dram_0"));
  EXPECT_EQ(made.energies()[1].energy, Joules(0.25));
}

TEST(EnergySample, FindsAnEnergyByItsDomain) {
  const EnergySample made = sample("a", {{"package_0", joules(1.5)}, {"dram_0", nothing_known()}});
  EXPECT_EQ(made.energy("package_0").energy, Joules(1.5));
  EXPECT_EQ(made.energy("dram_0").energy, std::nullopt);
}

TEST(EnergySample, SaysWhichDomainsItHasWhereOneIsMissing) {
  const EnergySample made = sample("a", {{"package_0", joules(1)}, {"dram_0", joules(1)}});
  try {
    (void)made.energy("dram_1");
    FAIL() << "nothing was thrown";
  } catch (const NoSuchDomain& error) {
    EXPECT_STREQ(error.what(), "the domain \"dram_1\" was not measured, only: package_0, dram_0");
    EXPECT_EQ(error.domain_name(), "dram_1");
  }
}

TEST(EnergySample, RefusesWhatDoesNotFitTogether) {
  const auto make = [](const DomainNames& names, std::size_t energies, double duration_s) {
    EnergySample(TimePoint{}, "a", Seconds(duration_s), names,
                 std::vector<MeasuredEnergy>(energies));
  };
  EXPECT_THROW(make(domains({"d1", "d2"}), 1, 1.0), InvalidArgument);
  EXPECT_THROW(make(domains({"d1", "d2", "d1"}), 3, 1.0), InvalidArgument);
  EXPECT_THROW(make(nullptr, 0, 1.0), InvalidArgument);
  EXPECT_THROW(make(domains({}), 0, -1e-9), InvalidArgument);
  EXPECT_THROW(make(domains({}), 0, kNan), InvalidArgument);
  EXPECT_THROW(make(domains({}), 0, std::numeric_limits<double>::infinity()), InvalidArgument);
  EXPECT_NO_THROW(make(domains({}), 0, 0.0));
}

TEST(EnergySample, EqualsAnotherWithTheSameContent) {
  const EnergySample one = sample("a", {{"d1", joules(1)}});
  EXPECT_EQ(one, sample("a", {{"d1", joules(1)}}));
  EXPECT_NE(one, sample("b", {{"d1", joules(1)}}));
  EXPECT_NE(one, sample("a", {{"d2", joules(1)}}));
  EXPECT_NE(one, sample("a", {{"d1", joules(2)}}));
  EXPECT_NE(one, sample("a", {{"d1", joules(1)}}, {.duration_s = 2}));
}

TEST(EnergyTrace, IsEmptyAtFirst) {
  EnergyTrace trace;
  EXPECT_EQ(trace.size(), 0U);
  EXPECT_TRUE(trace.empty());
  EXPECT_EQ(trace.begin(), trace.end());
  EXPECT_FALSE(trace.contains(""));
  EXPECT_THROW((void)trace[0], NoSuchSample);
  trace.clean_data();
  trace.remove_idle(EnergyTrace());
  EXPECT_TRUE(trace.empty());
}

TEST(EnergyTrace, GivesSamplesByNumber) {
  const EnergyTrace trace = abc();
  EXPECT_EQ(trace[0].tag(), "a");
  EXPECT_EQ(trace[2].tag(), "c");
  EXPECT_EQ(error_of([&] { (void)trace[3]; }), "there is no sample 3 in a trace of 3");
}

TEST(EnergyTrace, GivesTheFirstSampleOfATag) {
  EnergyTrace trace = abc();
  trace.append(sample("b", {{"d1", joules(9)}}));
  EXPECT_EQ(trace["b"].energy("d1").energy, Joules(2));
  EXPECT_EQ(error_of([&] { (void)trace["x\n"]; }), "no sample of the trace has the tag \"x\\x0a\"");
}

TEST(EnergyTrace, KnowsWhichTagsItHas) {
  const EnergyTrace trace = abc();
  EXPECT_TRUE(trace.contains("c"));
  EXPECT_FALSE(trace.contains("d"));
  EXPECT_FALSE(trace.contains(""));
}

TEST(EnergyTrace, IsIteratedInOrder) { EXPECT_THAT(tags_of(abc()), ElementsAre("a", "b", "c")); }

TEST(EnergyTrace, DoesNotFollowTheListItWasMadeOf) {
  std::vector<EnergySample> samples = {sample("a", {})};
  const EnergyTrace trace(samples);
  samples.push_back(sample("b", {}));
  EXPECT_THAT(tags_of(trace), ElementsAre("a"));
}

TEST(EnergyTrace, GrowsByASample) {
  EnergyTrace trace = abc();
  trace.append(sample("d", {}));
  EXPECT_THAT(tags_of(trace), ElementsAre("a", "b", "c", "d"));
}

TEST(EnergyTrace, IsJoinedWithAnother) {
  const EnergyTrace one = abc();
  const EnergyTrace other({sample("d", {})});
  EXPECT_THAT(tags_of(one + other), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(tags_of(one), ElementsAre("a", "b", "c"));
  EnergyTrace sum;
  sum += one;
  sum += other;
  EXPECT_EQ(sum, one + other);
}

TEST(EnergyTrace, IsJoinedWithItself) {
  EnergyTrace trace = abc();
  trace += trace;
  EXPECT_THAT(tags_of(trace), ElementsAre("a", "b", "c", "a", "b", "c"));
}

TEST(EnergyTrace, JoinsWhatIsMissingEachOnce) {
  const Refusal dram{.subject = "dram_0", .reason = "not permitted", .remedy = "ask"};
  const Refusal gpu{.subject = "nvidia_gpu_0", .reason = "gone", .remedy = ""};
  EnergyTrace trace({}, {dram});
  trace += EnergyTrace({}, {dram, gpu});
  EXPECT_THAT(trace.missing(), ElementsAre(dram, gpu));
}

/// `meter.trace()` returns a trace by value: what is taken from it must not go with it.
TEST(EnergyTrace, ThatIsAboutToGoGivesItsMissingDomainsAway) {
  const Refusal dram{.subject = "dram_0", .reason = "not permitted", .remedy = "ask"};
  const auto trace = [&dram] { return EnergyTrace({}, {dram}); };
  static_assert(std::is_same_v<decltype(trace().missing()), std::vector<Refusal>>);
  std::vector<std::string> names;
  for (const Refusal& missing : trace().missing()) names.push_back(missing.subject);
  EXPECT_THAT(names, ElementsAre("dram_0"));
}

TEST(EnergyTrace, ThatIsAboutToGoGivesCopiesOfItsSamples) {
  static_assert(std::is_same_v<decltype(abc()[std::size_t{0}]), EnergySample>);
  static_assert(std::is_same_v<decltype(abc()["a"]), EnergySample>);
  const EnergySample& first = abc()[std::size_t{0}];
  const EnergySample& last = abc()["c"];
  EXPECT_EQ(first, abc()["a"]);
  EXPECT_EQ(last, abc()[std::size_t{2}]);
  EXPECT_THROW((void)abc()["d"], NoSuchSample);
}

TEST(CleanData, KeepsWhatIsNotNegative) {
  EnergyTrace trace = abc();
  trace.append(sample("zero", {{"d1", joules(0)}}));
  trace.append(sample("no domain", {}));
  trace.clean_data();
  EXPECT_THAT(tags_of(trace), ElementsAre("a", "b", "c", "zero", "no domain"));
}

TEST(CleanData, RemovesNegativeAndUnknownEnergies) {
  EnergyTrace trace({sample("negative", {{"d1", joules(1)}, {"d2", joules(-1e-9)}}),
                     sample("good", {{"d1", joules(1)}, {"d2", joules(1)}}),
                     sample("unknown", {{"d1", nothing_known()}, {"d2", joules(1)}}),
                     sample("no number", {{"d1", joules(kNan)}, {"d2", joules(1)}})});
  trace.clean_data();
  EXPECT_THAT(tags_of(trace), ElementsAre("good"));
}

TEST(CleanData, RemovesAll) {
  EnergyTrace trace({sample("a", {{"d1", joules(-1)}}), sample("b", {{"d1", joules(-2)}})});
  trace.clean_data();
  EXPECT_TRUE(trace.empty());
}

TEST(CleanData, RemovesWhatAGuardRejects) {
  EnergyTrace trace = abc();
  const std::vector<EnergyTrace::Guard> guards = {
      [](const EnergySample& each) { return each.tag() != "a"; },
      [](const EnergySample& each) { return each.energy("d1").energy < Joules(3); }};
  trace.clean_data(guards);
  EXPECT_THAT(tags_of(trace), ElementsAre("b"));
}

TEST(CleanData, AsksEveryGuardOnceForEverySoundSampleInOrder) {
  EnergyTrace trace = abc();
  trace.append(sample("negative", {{"d1", joules(-1)}}));
  std::string asked;
  const std::vector<EnergyTrace::Guard> guards = {[&](const EnergySample& each) {
                                                    asked += each.tag();
                                                    return false;
                                                  },
                                                  [&](const EnergySample& each) {
                                                    asked += each.tag();
                                                    return true;
                                                  }};
  trace.clean_data(guards);
  EXPECT_EQ(asked, "aabbcc");
  EXPECT_TRUE(trace.empty());
}

TEST(CleanData, ChangesNothingWhereAGuardThrows) {
  EnergyTrace trace = abc();
  const std::vector<EnergyTrace::Guard> guards = {[](const EnergySample& each) {
    if (each.tag() == "c") throw std::runtime_error("broken guard");
    return false;
  }};
  EXPECT_THROW(trace.clean_data(guards), std::runtime_error);
  EXPECT_EQ(trace, abc());
}

TEST(CleanData, RefusesAnEmptyGuard) {
  EnergyTrace trace;
  const std::vector<EnergyTrace::Guard> guards(1);
  EXPECT_THROW(trace.clean_data(guards), InvalidArgument);
}

TEST(RemoveIdle, SubtractsEachDomainOfEachSample) {
  EnergyTrace trace({sample("a", {{"d1", joules(5)}, {"d2", joules(7)}}),
                     sample("b", {{"d1", joules(1)}, {"d2", joules(1)}})});
  const EnergyTrace idle(
      {sample("x", {{"d2", joules(2)}, {"only idle", joules(9)}, {"d1", joules(1)}}),
       sample("y", {{"d2", joules(0.5)}, {"d1", joules(3)}})});
  trace.remove_idle(idle);
  EXPECT_EQ(trace[0].energy("d1").energy, Joules(4));
  EXPECT_EQ(trace[0].energy("d2").energy, Joules(5));
  EXPECT_EQ(trace[1].energy("d1").energy, Joules(-2));
  EXPECT_EQ(trace[1].energy("d2").energy, Joules(0.5));
  EXPECT_THAT(*trace[0].domains(), ElementsAre("d1", "d2"));
}

TEST(RemoveIdle, JoinsDoubtFlagsAndUnknownTime) {
  EnergyTrace trace({sample("a", {{"d1",
                                   {.energy = Joules(5),
                                    .uncertainty = Joules(3),
                                    .unknown = Seconds(0.25),
                                    .flags = Flags::of(Flag::wrapped)}}})});
  const EnergyTrace idle({sample("a", {{"d1",
                                        {.energy = Joules(1),
                                         .uncertainty = Joules(4),
                                         .unknown = Seconds(0.5),
                                         .flags = Flags::of(Flag::gap)}}})});
  trace.remove_idle(idle);
  const MeasuredEnergy& rest = trace[0].energy("d1");
  EXPECT_EQ(rest.uncertainty, Joules(5));
  EXPECT_EQ(rest.unknown, Seconds(0.75));
  EXPECT_TRUE(rest.flags.has(Flag::wrapped));
  EXPECT_TRUE(rest.flags.has(Flag::gap));
  trace.remove_idle(idle);
  EXPECT_EQ(trace[0].energy("d1").unknown, Seconds(1)) << "more than there was time";
}

TEST(RemoveIdle, OfSomethingUnknownIsUnknown) {
  EnergyTrace trace({sample("a", {{"d1", joules(5)}, {"d2", nothing_known()}})});
  trace.remove_idle(EnergyTrace({sample("a", {{"d1", nothing_known()}, {"d2", joules(1)}})}));
  EXPECT_EQ(trace[0].energy("d1").energy, std::nullopt);
  EXPECT_EQ(trace[0].energy("d1").unknown, Seconds(1));
  EXPECT_EQ(trace[0].energy("d2").energy, std::nullopt);
}

TEST(RemoveIdle, RefusesAnotherLength) {
  for (const std::size_t count : {0U, 2U, 4U}) {
    EnergyTrace trace = abc();
    const EnergyTrace idle(std::vector<EnergySample>(count, sample("a", {{"d1", joules(1)}})));
    EXPECT_THAT(error_of([&] { trace.remove_idle(idle); }),
                HasSubstr("the trace has 3 samples, and the idle trace " + std::to_string(count)));
    EXPECT_EQ(trace, abc());
  }
}

TEST(RemoveIdle, ChangesNothingWhereADomainIsMissing) {
  EnergyTrace trace = abc();
  const EnergyTrace idle({sample("a", {{"d1", joules(1)}}), sample("b", {{"d1", joules(1)}}),
                          sample("c", {{"d2", joules(1)}})});
  EXPECT_THAT(error_of([&] { trace.remove_idle(idle); }), HasSubstr("the domain \"d1\""));
  EXPECT_THROW(trace.remove_idle(idle), InvalidArgument);
  EXPECT_EQ(trace, abc());
}

TEST(RemoveIdle, OfATraceFromItselfLeavesNothing) {
  EnergyTrace trace = abc();
  trace.remove_idle(trace);
  for (const EnergySample& each : trace) EXPECT_EQ(each.energy("d1").energy, Joules(0));
}

TEST(RemoveIdle, DoesNotReachSamplesOfAnotherTrace) {
  const EnergyTrace before = abc();
  EnergyTrace twice = before + before;
  twice.remove_idle(before + before);
  EXPECT_EQ(before, abc());
}

TEST(EnergyTrace, HoldsAMillionSamples) {
  constexpr std::size_t kMany = kSanitized ? 100'000 : 1'000'000;
  EnergyTrace trace = testing_samples::many_samples(kMany);
  const std::string last = std::to_string(kMany - 1);
  EXPECT_EQ(trace[last].tag(), last);
  trace.clean_data();
  EXPECT_THAT(trace, SizeIs(kMany));
  trace.remove_idle(trace);
  EXPECT_EQ(trace[kMany - 1].energy("package_0").energy, Joules(0));
  EXPECT_THAT(trace.missing(), IsEmpty());
}

TEST(EnergyTraceCleaned, LosesALowerBound) {
  MeasuredEnergy bound = joules(1);
  bound.unknown = Seconds(0.1);
  MeasuredEnergy whole = joules(1);
  whole.unknown = Seconds(0.0005);
  EnergyTrace trace({sample("bound", {{"d1", bound}}), sample("whole", {{"d1", whole}})});
  trace.clean_data();
  EXPECT_THAT(tags_of(trace), ElementsAre("whole"));
}

}  // namespace
}  // namespace wattle
