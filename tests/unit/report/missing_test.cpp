// What a total says about what is not in it, where CPU energy has several sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

SensorRefusal refusal(const Domain& domain, std::string reason, std::string remedy = "") {
  return {.source = "perf",
          .subject = domain.name(),
          .reason = std::move(reason),
          .remedy = std::move(remedy),
          .domain = domain};
}

DomainFigure measured(const Domain& domain) {
  return {.domain = domain, .source = "powercap", .figure = {.energy = Joules(1.0)}};
}

/// What is said of one kind.
std::vector<Refusal> missing(std::string_view kind, const std::vector<DomainFigure>& domains,
                             const std::vector<SensorRefusal>& refused) {
  std::vector<Refusal> missing = total_of(domains, refused).missing;
  std::erase_if(missing, [&](const Refusal& entry) { return entry.subject != kind; });
  return missing;
}

std::string headline(const std::vector<SensorRefusal>& refused) {
  Report report;
  report.command = {"true"};
  report.exit = {.started = true, .code = 0};
  report.refused = refused;
  report.energy.total = total_of({}, refused);
  const std::string text = to_text(report, {});
  return text.substr(0, text.find('\n'));
}

TEST(Missing, NamesDomainsOfOneCauseTogether) {
  const auto cpu = missing("cpu", {},
                           {refusal(Domain::package(0), "not allowed", "setcap"),
                            refusal(Domain::dram(0), "not allowed", "setcap"),
                            refusal(Domain::package(1), "not allowed", "setcap")});
  ASSERT_EQ(cpu.size(), 1U);
  EXPECT_EQ(cpu[0].reason, "package_0, package_1: not allowed");
  EXPECT_EQ(cpu[0].remedy, "setcap");
}

TEST(Missing, NamesDomainsOfTwoCausesApart) {
  const auto cpu = missing(
      "cpu", {}, {refusal(Domain::package(0), "broken"), refusal(Domain::package(1), "offline")});
  ASSERT_EQ(cpu.size(), 2U);
  EXPECT_EQ(cpu[1].reason, "package_1: offline");
}

TEST(Missing, IsNotADomainThatAnotherSourceReads) {
  EXPECT_THAT(
      missing("cpu", {measured(Domain::package(0))}, {refusal(Domain::package(0), "not allowed")}),
      IsEmpty());
}

TEST(Missing, IsExplainedByAnInterfaceRatherThanByAPartOfOne) {
  const std::vector<SensorRefusal> refused = {
      {.source = "perf", .subject = "CPU 3", .reason = "no such package"},
      {.source = "powercap",
       .subject = "CPU energy",
       .reason = "a virtual machine",
       .remedy = "measure on the host",
       .scope = RefusalScope::interface}};
  EXPECT_EQ(missing("cpu", {}, refused)[0].reason, "a virtual machine");
  EXPECT_EQ(headline(refused),
            "no energy: a virtual machine; measure on the host; --estimate prints a range instead");
}

TEST(Missing, IsAnotherVendorsGpuThatMayBeThere) {
  const std::vector<SensorRefusal> refused = {{.source = "nvml",
                                               .subject = "NVIDIA GPUs",
                                               .reason = "versions differ",
                                               .scope = RefusalScope::interface,
                                               .shows = {DomainKind::nvidia_gpu}}};
  const auto gpus = missing("gpu", {measured(Domain::amd_gpu(0))}, refused);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].reason, "NVIDIA GPUs: versions differ");
}

TEST(Missing, IsNoVendorsGpuThatIsNotThere) {
  const std::vector<SensorRefusal> refused = {{.source = "nvml",
                                               .subject = "NVIDIA GPUs",
                                               .reason = "no driver",
                                               .absent = true,
                                               .scope = RefusalScope::interface,
                                               .shows = {DomainKind::nvidia_gpu}}};
  EXPECT_THAT(missing("gpu", {measured(Domain::amd_gpu(0))}, refused), IsEmpty());
}

TEST(Missing, IsNotExplainedByAnotherKindOfDevice) {
  const std::vector<SensorRefusal> refused = {{.source = "nvml",
                                               .subject = "NVIDIA GPUs",
                                               .reason = "no library",
                                               .remedy = "install the driver",
                                               .scope = RefusalScope::interface,
                                               .shows = {DomainKind::nvidia_gpu}},
                                              refusal(Domain::package(0), "broken")};
  EXPECT_THAT(headline(refused), StartsWith("no energy: package_0: broken"));
  EXPECT_THAT(headline(refused), Not(HasSubstr("driver"))) << "a remedy for something else";
}

}  // namespace
}  // namespace wattle
