#include "api/scrape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "fakes/scripted_sensor.hpp"
#include "serve/service.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A package of 50 W, whose counter can be held.
class CpuScrape : public testing::Test {
 protected:
  CpuScrape() {
    auto steady = fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(50.0),
                                        clock_.now());
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back({steady.channel, [this, script = steady.script](TimePoint now) {
                          fakes::Shown shown = script(held_at_.value_or(now));
                          shown.raw -= std::min(shown.raw, restarted_at_);
                          if (fails_) shown.status = ReadStatus::retry;
                          return shown;
                        }});
    std::vector<std::shared_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    cpus_.emplace(std::move(sensors), std::vector<Cpus::Cpu>{{.id = 0, .cpu = {0, 0}}});
    view_.emplace(*cpus_, loop_);
    gpus_.emplace(std::vector<Gpus::Gpu>{}, loop_);
    scrape_.emplace(*gpus_, *gpus_, *cpus_, loop_);
  }

  DomainMetrics scrape() {
    std::vector<DomainMetrics> all;
    scrape_->gather(*view_, [&](std::vector<DomainMetrics> domains) { all = std::move(domains); });
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? DomainMetrics{} : all.front();
  }

  VirtualLoop loop_;
  LoopClock clock_{loop_};
  std::optional<TimePoint> held_at_;
  std::uint64_t restarted_at_ = 0;  ///< it counts from here
  bool fails_ = false;
  std::optional<Cpus> cpus_;
  std::optional<CpuView> view_;
  std::optional<Gpus> gpus_;
  std::optional<Scrape> scrape_;
};

TEST_F(CpuScrape, HasEnergyAndMeanPower) {
  (void)scrape();
  loop_.advance(seconds(10));
  const DomainMetrics package = scrape();
  EXPECT_TRUE(package.up);
  EXPECT_NEAR(package.energy_j.value_or(0.0), 500.0, 0.01);
  EXPECT_NEAR(package.power_w.value_or(0.0), 50.0, 0.01);
}

TEST_F(CpuScrape, HasNeitherOfACounterThatDoesNotMoveButTheReason) {
  held_at_ = loop_.now();
  (void)scrape();
  loop_.advance(seconds(10));
  const DomainMetrics package = scrape();
  EXPECT_FALSE(package.up);
  EXPECT_EQ(package.energy_j, std::nullopt);
  EXPECT_EQ(package.power_w, std::nullopt);
  EXPECT_EQ(package.reason, "its counter does not move");
}

TEST_F(CpuScrape, HasBothAgainOnceTheCounterMoves) {
  held_at_ = loop_.now();
  (void)scrape();
  loop_.advance(seconds(10));
  (void)scrape();
  held_at_.reset();
  loop_.advance(seconds(10));
  EXPECT_NEAR(scrape().energy_j.value_or(0.0), 1000.0, 0.01);
  loop_.advance(seconds(10));
  const DomainMetrics package = scrape();
  EXPECT_TRUE(package.up);
  EXPECT_NEAR(package.power_w.value_or(0.0), 50.0, 0.01);
}

TEST_F(CpuScrape, HasNoPowerAcrossARestartOfTheCounterButTheReason) {
  (void)scrape();
  loop_.advance(seconds(10));
  (void)scrape();
  restarted_at_ = 50 * 10 * 16'384;
  loop_.advance(seconds(9));
  const DomainMetrics restarted = scrape();
  EXPECT_TRUE(restarted.up);
  EXPECT_EQ(restarted.resets, 1U);
  EXPECT_EQ(restarted.power_w, std::nullopt);
  EXPECT_EQ(restarted.reason, "its counter restarted");
  loop_.advance(seconds(10));
  const DomainMetrics later = scrape();
  EXPECT_NEAR(later.power_w.value_or(0.0), 50.0, 0.01);
  EXPECT_EQ(later.reason, "");
}

TEST_F(CpuScrape, HasNeitherOfACounterThatCannotBeReadButTheReason) {
  (void)scrape();
  loop_.advance(seconds(10));
  (void)scrape();
  fails_ = true;
  loop_.advance(seconds(3));
  const DomainMetrics package = scrape();
  EXPECT_FALSE(package.up);
  EXPECT_EQ(package.energy_j, std::nullopt);
  EXPECT_EQ(package.power_w, std::nullopt);
  EXPECT_EQ(package.reason, "its counter cannot be read");
  EXPECT_TRUE(package.last_success_unix_s);
}

TEST_F(CpuScrape, HasTheReasonOfACounterThatCouldNeverBeRead) {
  fails_ = true;
  EXPECT_EQ(scrape().reason, "its counter cannot be read");
}

/// A GPU whose driver waits for the test, and returns the test's value.
class ScrapedGpu final : public Sensor {
 public:
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    while (is_shut) std::this_thread::yield();
    readings[0] = {.raw = 75, .status = status};
  }
  [[nodiscard]] bool may_block() const noexcept override { return true; }

  std::atomic<bool> is_shut{false};
  std::atomic<ReadStatus> status{ReadStatus::ok};

 private:
  std::vector<Channel> channels_{
      {.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant}};
};

class GpuScrape : public testing::Test {
 protected:
  ~GpuScrape() override { gpu_->is_shut = false; }
  void gather() {
    scrape_.gather(view_, [&](const std::vector<DomainMetrics>& domains) {
      ASSERT_EQ(domains.size(), 1U);
      found_ = domains.front();
    });
  }
  const DomainMetrics& answered() {
    while (!found_) {
      loop_.run_posted();
      std::this_thread::yield();
    }
    return *found_;
  }

  VirtualLoop loop_;
  std::shared_ptr<ScrapedGpu> gpu_ = std::make_shared<ScrapedGpu>();
  Gpus gpus_{{{.entry = {.id = 0}, .sensor = gpu_}}, loop_};
  Cpus cpus_{{}, {}};
  CpuView view_{cpus_, loop_};
  Gpus others_{{}, loop_};
  Scrape scrape_{gpus_, others_, cpus_, loop_};
  std::optional<DomainMetrics> found_;
};

TEST_F(GpuScrape, HasNoReasonOfAGpuThatAnswers) {
  gather();
  EXPECT_TRUE(answered().up);
  EXPECT_EQ(answered().reason, "");
}

TEST_F(GpuScrape, HasTheReasonOfAGpuThatHangs) {
  gpu_->is_shut = true;
  gather();
  loop_.advance(seconds(5));
  EXPECT_FALSE(answered().up);
  EXPECT_EQ(answered().reason, "GPU error: the driver did not answer in time");
}

TEST_F(GpuScrape, HasTheReasonOfAGpuThatIsLost) {
  gpu_->status = ReadStatus::gone;
  gather();
  EXPECT_FALSE(answered().up);
  EXPECT_EQ(answered().reason, "NVML error: the GPU is lost");
}

/// A meter of 250 W, and a GPU of 75 W without a counter, read as the daemon does.
class OtherScrape : public testing::Test {
 protected:
  OtherScrape() {
    Inventory inventory;
    inventory.gpus.push_back({.entry = {.id = 0}, .sensor = std::make_shared<ScrapedGpu>()});
    std::vector<fakes::ScriptedCounter> gauges;
    gauges.push_back({{.domain = Domain::custom("hwmon", "psu"),
                       .source = "hwmon",
                       .metric = Metric::power_instant},
                      [this](TimePoint) {
                        return fakes::Shown{250, status_};
                      }});
    inventory.others.push_back(
        {.entry = {.id = 0},
         .sensor = std::make_shared<fakes::ScriptedSensor>(std::move(gauges), clock_)});
    follow_devices(inventory, {TokenScope::gpu_read}, milliseconds(50), clock_);
    gpus_.emplace(std::move(inventory.gpus), loop_);
    others_.emplace(std::move(inventory.others), loop_);
    scrape_.emplace(*gpus_, *others_, cpus_, loop_);
    for (const auto& device : inventory.followed) scrape_->follow(device);
  }

  std::map<std::string, DomainMetrics> scrape(CpuView& view) {
    std::optional<std::map<std::string, DomainMetrics>> all;
    scrape_->gather(view, [&](const std::vector<DomainMetrics>& domains) {
      all.emplace();
      for (const DomainMetrics& each : domains) (*all)[each.domain] = each;
    });
    while (!all) {
      loop_.run_posted();
      std::this_thread::yield();
    }
    return *all;
  }

  VirtualLoop loop_;
  LoopClock clock_{loop_};
  std::atomic<ReadStatus> status_{ReadStatus::ok};
  Cpus cpus_{{}, {}};
  CpuView view_{cpus_, loop_};
  CpuView coarse_{cpus_, loop_, 1'000'000, seconds(1)};
  std::optional<Gpus> gpus_;
  std::optional<Gpus> others_;
  std::optional<Scrape> scrape_;
};

TEST_F(OtherScrape, HasTheEnergyOfAGpuWithoutACounterFromItsPower) {
  const DomainMetrics gpu = scrape(view_).at("nvidia_gpu_0");
  EXPECT_EQ(gpu.energy_source, "integrated");
  EXPECT_EQ(gpu.energy_j, 0.0);
  EXPECT_EQ(gpu.power_w, 75.0);
  EXPECT_EQ(gpu.created_unix_s, to_unix(loop_.now()));
  EXPECT_TRUE(gpu.additive);
}

TEST_F(OtherScrape, HasAMeterWhichOverlapsTheRest) {
  (void)scrape(view_);
  loop_.advance(seconds(10));
  const DomainMetrics meter = scrape(view_).at("hwmon_psu");
  EXPECT_FALSE(meter.additive);
  EXPECT_TRUE(meter.up);
  EXPECT_EQ(meter.power_w, 250.0);
  EXPECT_EQ(meter.source, "hwmon");
  EXPECT_EQ(meter.energy_source, "integrated");
  EXPECT_NEAR(meter.energy_j.value_or(0.0), 2500.0, 30.0);
  EXPECT_LT(meter.energy_uncertainty_j.value_or(1e9), 100.0);
  EXPECT_LT(meter.energy_unknown_s.value_or(1e9), 0.2);
}

TEST_F(OtherScrape, ShowsWhoSeesLittleWholeJoulesOnceAPeriod) {
  (void)scrape(coarse_);
  for (int i = 0; i < 40; ++i) {
    loop_.advance(milliseconds(270));
    const DomainMetrics meter = scrape(coarse_).at("hwmon_psu");
    EXPECT_EQ(meter.energy_j, std::floor(meter.energy_j.value_or(0.5)));
  }
  const DomainMetrics meter = scrape(coarse_).at("hwmon_psu");
  loop_.advance(milliseconds(100));
  EXPECT_EQ(scrape(coarse_).at("hwmon_psu").energy_j, meter.energy_j);
  EXPECT_NEAR(meter.power_w.value_or(0.0), 250.0, 2.0);
}

TEST_F(OtherScrape, HasTheReasonOfAMeterThatIsGone) {
  (void)scrape(view_);
  EXPECT_FALSE(scrape_->lacks_others());
  status_ = ReadStatus::gone;
  const DomainMetrics meter = scrape(view_).at("hwmon_psu");
  EXPECT_FALSE(meter.up);
  EXPECT_EQ(meter.reason, "the device is gone");
  EXPECT_TRUE(scrape_->lacks_others());
  status_ = ReadStatus::retry;
  EXPECT_EQ(scrape(view_).at("hwmon_psu").reason, "it shows no value");
  EXPECT_FALSE(scrape_->lacks_others());
}

TEST_F(CpuScrape, DoesNotTakeTwoLooksAtOnceForACounterThatStands) {
  (void)scrape();
  loop_.advance(milliseconds(1));
  held_at_ = loop_.now();
  loop_.advance(milliseconds(10));
  EXPECT_TRUE(scrape().up);
}

}  // namespace
}  // namespace wattle::daemon
