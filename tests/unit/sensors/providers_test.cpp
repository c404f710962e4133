#include "sensors/providers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string_view>

#include "fakes/powercap_tree.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(Providers, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Provider& provider : providers()) {
    EXPECT_TRUE(names.insert(provider.name).second) << provider.name;
    EXPECT_THAT(provider.what, Not(IsEmpty()));
    EXPECT_NE(provider.probe, nullptr);
  }
  EXPECT_TRUE(names.contains("powercap"));
}

TEST(Survey, CollectsWhatTheProvidersFind) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-0");
  tree.add_zone("intel-rapl:1", "no such name");
  const Survey found = survey(tree.system(), fakes::VirtualClock());
  EXPECT_THAT(found.sensors, SizeIs(1));
  EXPECT_THAT(found.refused, SizeIs(1));
}

/// A machine that shows nothing: each interface has its reason.
TEST(Survey, NamesTheInterfaceOfEachRefusal) {
  const fakes::PowercapTree tree;
  System system = tree.system();
  system.nvml_library = "/no/library.so";
  system.daemon_socket = "/no/daemon.sock";
  const std::vector<Survey> each = survey_each(system, fakes::VirtualClock());
  ASSERT_THAT(each, SizeIs(providers().size()));
  for (std::size_t i = 0; i < each.size(); ++i) {
    SCOPED_TRACE(providers()[i].name);
    ASSERT_THAT(each[i].refused, Not(IsEmpty()));
    for (const SensorRefusal& refusal : each[i].refused) {
      EXPECT_EQ(refusal.source, providers()[i].name);
    }
  }
}

/// A virtual machine as it is: no powercap class, the processor's flags tell why.
TEST(Survey, OfARecordedVirtualMachineSaysWhyThereIsNoEnergy) {
  const std::filesystem::path tree = WATTLE_FIXTURES "/trees/virtual_machine";
  const System system{
      .sysfs = tree / "sys", .procfs = tree / "proc", .nvml_library = tree / "no-library.so"};
  const Survey found = survey(system, fakes::VirtualClock());
  EXPECT_THAT(found.sensors, IsEmpty());
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_EQ(found.refused[0].reason,
            "this is a virtual machine; the host does not expose energy counters to it");
  EXPECT_THAT(found.refused[0].proof, HasSubstr("hypervisor"));
  EXPECT_THAT(found.refused[0].remedy, Not(IsEmpty()));
  EXPECT_THAT(available_domains(system), IsEmpty());
}

}  // namespace
}  // namespace wattle
