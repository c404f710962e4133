// What a meter takes of the system, and must not take more of the longer it is used.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>

#include "fakes/gated_sensor.hpp"
#include "fakes/powercap_tree.hpp"
#include "sanitized.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle {
namespace {

std::size_t open_descriptors() {
  // One of them is that of the folder itself, every time.
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

class MeterResources : public testing::Test {
 protected:
  MeterResources() {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.add_zone("intel-rapl:0:0", "dram", fakes::kServerDramUnit);
  }

  fakes::PowercapTree tree_;
};

TEST_F(MeterResources, AreAsManyDescriptorsAfterAMillionReads) {
  const std::size_t without_meter = open_descriptors();
  {
    EnergyMeter meter({.system = tree_.system()});
    meter.start();
    meter.stop();
    const std::size_t with_meter = open_descriptors();
    EXPECT_GT(with_meter, without_meter) << "counters are kept open";
    constexpr int kStretches = kSanitized ? 50'000 : 250'000;  // two domains, at both ends
    for (int i = 0; i < kStretches; ++i) {
      meter.start();
      meter.stop();
    }
    EXPECT_EQ(meter.trace().size(), 1U) << "start forgets what was before";
    EXPECT_EQ(open_descriptors(), with_meter);
  }
  // Its thread is not waited for where the machine is too busy to let it end at once.
  EXPECT_TRUE(fakes::eventually([&] { return open_descriptors() == without_meter; }));
}

}  // namespace
}  // namespace wattle
