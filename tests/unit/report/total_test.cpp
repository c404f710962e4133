#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"
#include "sample_reports.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing_support::domain_energy;
using testing_support::figure;

SensorRefusal refusal(std::string subject, std::string reason, std::optional<Domain> domain = {}) {
  return {.source = "powercap",
          .subject = std::move(subject),
          .reason = std::move(reason),
          .domain = domain};
}

std::vector<std::pair<std::string, std::string>> missing(const Total& total) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Refusal& kind : total.missing) pairs.emplace_back(kind.subject, kind.reason);
  return pairs;
}

constexpr const char* kNoGpus = "no GPU with its own power sensor was found";

TEST(Total, AddsPackagesAndMemory) {
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 3.0, 50.0)),
                                domain_energy(Domain::package(1), figure(60.0, 0.0, 30.0)),
                                domain_energy(Domain::dram(0), figure(8.0, 4.0, 4.0))},
                               {});
  EXPECT_EQ(total.energy, Joules(168.0));
  EXPECT_EQ(total.uncertainty, Joules(5.0)) << "in quadrature";
  EXPECT_EQ(total.mean, Watts(84.0));
  EXPECT_THAT(total.covers, ElementsAre("cpu", "dram"));
}

TEST(Total, CountsNothingTwice) {
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::core(0), figure(70.0, 1.0, 35.0)),
                                domain_energy(Domain::uncore(0), figure(9.0, 1.0, 4.5)),
                                domain_energy(Domain::psys(), figure(200.0, 1.0, 100.0))},
                               {});
  EXPECT_EQ(total.energy, Joules(100.0));
  EXPECT_EQ(total.uncertainty, Joules(1.0));
}

TEST(Total, IsAbsentWhereNothingThatCountsIsKnown) {
  const Total total = total_of({domain_energy(Domain::psys(), figure(200.0, 1.0, 100.0))}, {});
  EXPECT_EQ(total.energy, std::nullopt);
  EXPECT_EQ(total.mean, std::nullopt);
  EXPECT_THAT(total.covers, IsEmpty());
}

TEST(Total, IsUnknownForAsLongAsItsWorstPart) {
  EnergyFigure half = figure(50.0, 1.0, 50.0);
  half.unknown = Seconds(1.0);
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::package(1), half)},
                               {});
  EXPECT_EQ(total.unknown, Seconds(1.0));
  EXPECT_EQ(total.mean, Watts(100.0)) << "each part over the time in which it is known";
}

TEST(Total, HasNoMeanWhereAPartHasNone) {
  EnergyFigure instant = figure(0.0, 3.3, 0.0);
  instant.mean.reset();
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::package(1), instant)},
                               {});
  EXPECT_EQ(total.energy, Joules(100.0));
  EXPECT_EQ(total.mean, std::nullopt);
}

TEST(Total, SaysWhatIsMissingAndWhy) {
  EXPECT_THAT(missing(total_of({}, {refusal("CPU energy", "this is a virtual machine")})),
              ElementsAre(Pair("cpu", "this is a virtual machine"),
                          Pair("dram", "this is a virtual machine"), Pair("gpu", kNoGpus)));
}

TEST(Total, GivesTheReasonOfADaemonThatSomebodyNamed) {
  SensorRefusal daemon = refusal("CPU energy", "no daemon listens on /wrong");
  daemon.source = "daemon";
  SensorRefusal machine = refusal("CPU energy", "this is a virtual machine");
  machine.scope = RefusalScope::interface;
  EXPECT_THAT(missing(total_of({}, {machine, daemon})),
              testing::Contains(Pair("cpu", "no daemon listens on /wrong")));
  daemon.scope = RefusalScope::spare;
  EXPECT_THAT(missing(total_of({}, {machine, daemon})),
              testing::Contains(Pair("cpu", "this is a virtual machine")));
}

TEST(Total, SaysSomethingEvenIfNobodyKnowsWhy) {
  EXPECT_THAT(missing(total_of({}, {})),
              ElementsAre(Pair("cpu", "no sensor was found"), Pair("dram", "no sensor was found"),
                          Pair("gpu", kNoGpus)));
}

TEST(Total, SaysThatAProcessorMayHaveNoCounterForItsMemory) {
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0))}, {});
  EXPECT_THAT(missing(total),
              ElementsAre(Pair("dram", "this processor has no counter for its memory"),
                          Pair("gpu", kNoGpus)));
}

TEST(Total, NamesTheDomainThatMayNotBeRead) {
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::dram(0), figure(8.0, 1.0, 4.0))},
                               {refusal("package_1", "readable by root only", Domain::package(1))});
  EXPECT_THAT(missing(total),
              ElementsAre(Pair("cpu", "package_1: readable by root only"), Pair("gpu", kNoGpus)));
}

TEST(Total, NamesThePlaceThatMayBeAPackage) {
  SensorRefusal unnamed = refusal("intel-rapl:1", "it has no name");
  unnamed.hidden.kinds = {DomainKind::package};
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::dram(0), figure(8.0, 1.0, 4.0))},
                               {unnamed});
  EXPECT_THAT(missing(total),
              ElementsAre(Pair("cpu", "intel-rapl:1: it has no name"), Pair("gpu", kNoGpus)));
}

TEST(Total, LeavesOutWhatAnotherSourceReads) {
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::dram(0), figure(8.0, 1.0, 4.0))},
                               {refusal("package_0", "broken here", Domain::package(0))});
  EXPECT_THAT(missing(total), ElementsAre(Pair("gpu", kNoGpus)));
}

TEST(Total, LeavesOutRefusalsOfWhatIsNotCounted) {
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::dram(0), figure(8.0, 1.0, 4.0))},
                               {refusal("core_0", "a single core's", Domain::core(0)),
                                refusal("intel-rapl-mmio:0", "the same counter as package_0")});
  EXPECT_THAT(missing(total), ElementsAre(Pair("gpu", kNoGpus)));
}

TEST(Total, LeavesOutADomainWhoseCounterIsStuckAndNamesIt) {
  EnergyFigure stuck;
  stuck.flags.set(Flag::stuck);
  const Total total = total_of({domain_energy(Domain::package(0), stuck),
                                domain_energy(Domain::dram(0), figure(8.0, 1.0, 4.0))},
                               {});
  EXPECT_EQ(total.energy, Joules(8.0));
  EXPECT_THAT(total.covers, ElementsAre("dram"));
  EXPECT_THAT(missing(total), ElementsAre(Pair("cpu", "package_0: its counter does not move"),
                                          Pair("gpu", kNoGpus)));
}

TEST(Total, SaysWhyTheCounterOfADomainIsUnknown) {
  const auto reason = [](Flag flag) {
    EnergyFigure figure;
    figure.flags = Flags::of(flag);
    return missing(total_of({domain_energy(Domain::package(0), figure)}, {}))[0].second;
  };
  EXPECT_EQ(reason(Flag::reset), "package_0: its counter restarted");
  EXPECT_EQ(reason(Flag::implausible),
            "package_0: its counter jumped beyond what the device can draw");
  EXPECT_EQ(reason(Flag::gap), "package_0: it could not be read throughout");
}

TEST(Total, NamesTheDomainWhoseSensorFailed) {
  const Total total = total_of({domain_energy(Domain::package(0), figure(100.0, 1.0, 50.0)),
                                domain_energy(Domain::dram(0), EnergyFigure{})},
                               {});
  EXPECT_THAT(missing(total), ElementsAre(Pair("dram", "dram_0: it could not be read throughout"),
                                          Pair("gpu", kNoGpus)));
  EXPECT_THAT(total.covers, ElementsAre("cpu"));
}

}  // namespace
}  // namespace wattle
