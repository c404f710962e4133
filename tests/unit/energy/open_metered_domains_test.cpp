// What a meter finds on a machine, and what it says of what is not there.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "fakes/unprivileged.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using fakes::PowercapTree;
using Names = std::vector<std::string>;

class SourceOfNothing final : public EnergySource {
 public:
  [[nodiscard]] std::vector<Counter> counters() const override { return {}; }
  void read(std::span<std::optional<std::uint64_t>> /*raw*/) noexcept override {}
};

class OpenColumns : public testing::Test {
 protected:
  EnergyMeter open(std::optional<std::vector<Domain>> domains = {}) {
    return EnergyMeter({.domains = std::move(domains), .system = tree_.system()});
  }
  Names names(std::optional<std::vector<Domain>> domains = {}) {
    return *open(std::move(domains)).domains();
  }
  template <class Error>
  std::string message(std::optional<std::vector<Domain>> domains = {}) {
    try {
      (void)open(std::move(domains));
    } catch (const Error& error) {
      return error.what();
    }
    return "no such error";
  }
  void add_two_sockets() {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.add_zone("intel-rapl:0:0", "core");
    tree_.add_zone("intel-rapl:0:1", "dram", fakes::kServerDramUnit);
    tree_.add_zone("intel-rapl:1", "package-1");
    tree_.add_zone("intel-rapl:1:0", "dram", fakes::kServerDramUnit);
  }

  PowercapTree tree_;
};

TEST_F(OpenColumns, AreAllDomainsByKindAndNumber) {
  add_two_sockets();
  EXPECT_EQ(names(), (Names{"package_0", "package_1", "dram_0", "dram_1", "core_0"}));
}

TEST_F(OpenColumns, HoldThePlatformOnlyWhereItIsNamed) {
  add_two_sockets();
  tree_.add_zone("intel-rapl:2", "psys");
  EXPECT_EQ(names(), (Names{"package_0", "package_1", "dram_0", "dram_1", "core_0"}));
  EXPECT_EQ(names({{Domain::psys()}}), (Names{"psys"}));
}

TEST_F(OpenColumns, KeepTheOrderOfTheCaller) {
  add_two_sockets();
  EXPECT_EQ(names({{Domain::dram(1), Domain::package(1), Domain::dram(0)}}),
            (Names{"dram_1", "package_1", "dram_0"}));
}

TEST_F(OpenColumns, AreNumberedByTheSocketNotByTheZone) {
  tree_.add_zone("intel-rapl:0", "package-1");
  tree_.add_zone("intel-rapl:1", "psys");
  tree_.add_zone("intel-rapl:2", "package-0");
  EXPECT_EQ(names(), (Names{"package_0", "package_1"}));
}

TEST_F(OpenColumns, DistinguishTheDiesOfASocket) {
  tree_.add_zone("intel-rapl:0", "package-0-die-0");
  tree_.add_zone("intel-rapl:1", "package-0-die-1");
  EXPECT_EQ(names(), (Names{"package_0_die_0", "package_0_die_1"}));
}

TEST_F(OpenColumns, AreNotAnEmptyList) {
  add_two_sockets();
  EXPECT_EQ(message<InvalidArgument>(std::vector<Domain>{}),
            "cannot measure an empty list of domains: name some, or leave the list out for all");
}

TEST_F(OpenColumns, AreNotNothing) {
  EnergyMeterOptions options;
  options.domains.emplace();
  options.sources.push_back(std::make_shared<SourceOfNothing>());
  options.system = tree_.system();
  EXPECT_THROW(EnergyMeter{options}, InvalidArgument);
}

class SlowSource final : public EnergySource {
 public:
  [[nodiscard]] std::vector<Counter> counters() const override {
    return {{.name = "wall", .update_interval = std::chrono::seconds(1)}};
  }
};

TEST_F(OpenColumns, OfSourcesAloneAreAlignedToo) {
  const EnergyMeterOptions options{.sources = {std::make_shared<SlowSource>()},
                                   .aligned = true,
                                   .if_unavailable = IfUnavailable::ignore,
                                   .system = tree_.system()};
  EXPECT_THROW(EnergyMeter{options}, InvalidArgument) << "it is renewed too rarely";
}

TEST_F(OpenColumns, AreNotNothingWhereACounterIsRefusedEither) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.remove_file("intel-rapl:0", "energy_uj");
  EnergyMeterOptions options;
  options.domains.emplace();
  options.sources.push_back(std::make_shared<SourceOfNothing>());
  options.system = tree_.system();
  EXPECT_THROW(EnergyMeter{options}, InvalidArgument);
}

TEST_F(OpenColumns, CanBeNamedInEveryUsualWay) {
  add_two_sockets();
  const System system = tree_.system();
  const std::vector<Domain> domains = {Domain::package(0)};
  std::vector<EnergyMeter> meters;
  meters.emplace_back(EnergyMeterOptions{.domains = domains, .system = system});
  meters.push_back(EnergyMeter({.domains = {{Domain::package(0)}}, .system = system}));
  meters.push_back(EnergyMeter({.domains = domains, .aligned = true, .system = system}));
  for (const EnergyMeter& meter : meters) EXPECT_EQ(*meter.domains(), (Names{"package_0"}));

  TableHandler table;
  { const EnergyScope scope(table, {.system = system}, "begin"); }
  { const EnergyScope scope(table, meters[0].another(), "begin"); }
  { const EnergyScope scope(table, meters[0].another()); }
}

TEST_F(OpenColumns, SayWhyThereIsNoGpu) {
  add_two_sockets();
  System system = tree_.system();
  system.nvml_library = "/nonexistent/libnvidia-ml.so.1";
  try {
    (void)EnergyMeter({.domains = {{Domain::package(0), Domain::nvidia_gpu(0)}}, .system = system});
    FAIL() << "there is no GPU";
  } catch (const NoSuchDevice& error) {
    EXPECT_NE(std::string(error.what()).find("NVIDIA"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("energy_uj"), std::string::npos) << error.what();
  }
}

TEST_F(OpenColumns, AreEachNamedOnce) {
  add_two_sockets();
  EXPECT_EQ(message<InvalidArgument>({{Domain::dram(0), Domain::dram(0)}}),
            "cannot measure dram_0 twice: name it once");
}

TEST_F(OpenColumns, MustBeThere) {
  add_two_sockets();
  try {
    (void)open({{Domain::package(0), Domain::package(7)}});
    FAIL() << "there is no socket 7";
  } catch (const NoSuchDomain& error) {
    EXPECT_EQ(error.domain_name(), "package_7");
    EXPECT_STREQ(error.what(),
                 "cannot measure package_7: there is no such domain here; there are: package_0, "
                 "package_1, dram_0, dram_1, core_0");
  }
}

TEST_F(OpenColumns, AreNotThereOnAMachineThatShowsNothing) {
  EXPECT_NE(message<NoSuchDevice>().find("cannot measure energy: "), std::string::npos);
  EXPECT_NE(message<NoSuchDevice>({{Domain::package(0)}}).find("`wattle doctor`"),
            std::string::npos);
}

/// As a user who may not read the counter of package 1.
class OpenColumnsAsUser : public OpenColumns {
 protected:
  OpenColumnsAsUser() {
    add_two_sockets();
    std::filesystem::permissions(tree_.root(), std::filesystem::perms(0755));
    hide("intel-rapl:1");
  }
  void hide(const std::string& zone) {
    std::filesystem::permissions(tree_.zone_path(zone) / "energy_uj", std::filesystem::perms::none);
  }
};

TEST_F(OpenColumnsAsUser, AreThoseThatCanBeReadAndTheReasonForTheOther) {
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become another user here";
  EnergyMeter meter = open();
  EXPECT_EQ(*meter.domains(), (Names{"package_0", "dram_0", "dram_1", "core_0"}));
  const EnergyTrace trace = meter.trace();
  ASSERT_EQ(trace.missing().size(), 1U);
  EXPECT_EQ(trace.missing()[0].subject, "package_1");
  EXPECT_NE(trace.missing()[0].reason.find("readable by root only"), std::string::npos);
  EXPECT_NE(trace.missing()[0].remedy.find("doctor --fix cpu"), std::string::npos);
}

TEST_F(OpenColumnsAsUser, KeepTheColumnOfOneThatWasNamed) {
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_EQ(names({{Domain::package(1), Domain::package(0)}}), (Names{"package_1", "package_0"}));
}

TEST_F(OpenColumnsAsUser, AreDeniedWhereNothingThatWasNamedCanBeRead) {
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become another user here";
  try {
    (void)open({{Domain::package(1)}});
    FAIL() << "it cannot be read";
  } catch (const PermissionDenied& error) {
    EXPECT_NE(error.path().find("intel-rapl:1/energy_uj"), std::string::npos);
    EXPECT_NE(error.remedy().find("doctor --fix cpu"), std::string::npos);
  }
}

TEST_F(OpenColumns, SayInTheLogWhatADefaultLacks) {
  tree_.add_zone("intel-rapl:0", "package-0");
  tree_.write_file("intel-rapl:0", "energy_uj", "nothing of this kind\n");
  tree_.add_zone("intel-rapl:0:0", "dram", fakes::kServerDramUnit);
  std::vector<std::string> messages;
  set_log([&](std::string_view message) { messages.emplace_back(message); });
  EXPECT_EQ(names(), (Names{"dram_0"}));
  EXPECT_EQ(names(), (Names{"dram_0"}));
  set_log({});
  ASSERT_EQ(messages.size(), 1U) << "once, however often it is opened";
  EXPECT_NE(messages[0].find("energy is measured without package_0: "), std::string::npos)
      << messages[0];
}

}  // namespace
}  // namespace wattle
