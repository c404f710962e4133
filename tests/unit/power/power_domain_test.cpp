#include "power/power_domain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "played_machine.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(PowerDomain, HasTheThreeWordsOfTheOriginal) {
  EXPECT_EQ(to_string(PowerDomain::device_instant), "device_instant");
  EXPECT_EQ(to_string(PowerDomain::device_average), "device_average");
  EXPECT_EQ(to_string(PowerDomain::memory_average), "memory_average");
}

TEST(PowerDomain, IsReadFromItsWord) {
  for (const PowerDomain domain : kPowerDomains) {
    EXPECT_EQ(parse_power_domain(to_string(domain)), domain);
  }
}

TEST(PowerDomain, NamesTheWordsThereAreForOneThatIsNone) {
  for (const char* word : {"", "device", "DEVICE_INSTANT", "package"}) {
    EXPECT_THAT([&] { (void)parse_power_domain(word); },
                ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("device_instant"),
                                                     HasSubstr("device_average"),
                                                     HasSubstr("memory_average"))));
  }
}

TEST(PowerDomain, IsApartOfAModuleAndNoEnergy) {
  Channel channel = power_test::power_channel(0, PowerDomain::device_instant);
  EXPECT_EQ(power_domain_of(channel), PowerDomain::device_instant);
  channel.scope = Scope::module;
  EXPECT_EQ(power_domain_of(channel), PowerDomain::module_instant);
  channel.metric = Metric::power_average;
  EXPECT_EQ(power_domain_of(channel), PowerDomain::module_average);
  EXPECT_EQ(power_domain_of(Channel{.domain = Domain::nvidia_gpu(0)}), std::nullopt);
}

TEST(PowerSample, HasItsTimeInUnixSeconds) {
  const PowerSample sample{.timestamp = from_unix(1.7e9 + 0.25)};
  EXPECT_NEAR(sample.unix_s(), 1.7e9 + 0.25, 1e-3);
}

}  // namespace
}  // namespace wattle
