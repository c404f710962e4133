// Which GPUs a meter measures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fakes/nvml/control.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MeterOfSelectedGpus : public testing::Test {
 protected:
  [[nodiscard]] EnergyMeterOptions options(GpuSelection gpus) const {
    return {
        .gpus = std::move(gpus), .if_unavailable = IfUnavailable::ignore, .system = fake_.system()};
  }

  fakes::FakeNvml fake_{
      "gpu A\nuuid GPU-aaaa\npower step 0 100\n"
      "gpu A\nuuid GPU-bbbb\npower step 0 50\n"};
};

TEST_F(MeterOfSelectedGpus, HasTheirColumnsAlone) {
  const EnergyReader reader(options(GpuSelection::named({"GPU-bbbb"})));
  EXPECT_THAT(*reader.domains(), ElementsAre("nvidia_gpu_1"));
}

TEST_F(MeterOfSelectedGpus, CallsNoDriverWhereNoneIsSelected) {
  const EnergyReader reader(options(GpuSelection::none()));
  EXPECT_THAT(*reader.domains(), IsEmpty());
  EXPECT_EQ(fake_.calls("nvmlInit_v2"), 0U);
}

TEST_F(MeterOfSelectedGpus, SaysWhatIsNotThere) {
  const EnergyReader reader(options({0, 7}));
  EXPECT_THAT(*reader.domains(), ElementsAre("nvidia_gpu_0"));
  EXPECT_TRUE(std::ranges::any_of(reader.missing(), [](const Refusal& missing) {
    return missing.subject == "GPU 7" && !missing.reason.empty();
  }));
  EnergyMeterOptions strict = options({0, 7});
  strict.if_unavailable = IfUnavailable::fail;
  EXPECT_THROW(const EnergyMeter meter(strict), NoSuchDevice);
}

TEST_F(MeterOfSelectedGpus, SharesSensorsWithMetersOfTheSameSelectionAlone) {
  const EnergyMeter all = EnergyMeter::shared(options(GpuSelection::all()));
  const EnergyMeter second = EnergyMeter::shared(options({1}));
  EXPECT_THAT(*all.domains(), ElementsAre("nvidia_gpu_0", "nvidia_gpu_1"));
  EXPECT_THAT(*second.domains(), ElementsAre("nvidia_gpu_1"));
}

}  // namespace
}  // namespace wattle
