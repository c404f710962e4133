#include "scrape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/scripted_sensor.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The loop's time, for sensors.
class ScrapeClock final : public Clock {
 public:
  explicit ScrapeClock(const VirtualLoop& loop) : loop_(loop) {}
  [[nodiscard]] TimePoint now() const noexcept override { return loop_.now(); }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return {}; }

 private:
  const VirtualLoop& loop_;
};

/// A package of 50 W, whose counter can be held.
class CpuScrape : public testing::Test {
 protected:
  CpuScrape() {
    auto steady = fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(50.0),
                                        clock_.now());
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back({steady.channel, [this, script = steady.script](TimePoint now) {
                          return script(held_at_.value_or(now));
                        }});
    std::vector<std::unique_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    cpus_.emplace(std::move(sensors), std::vector<Cpus::Cpu>{{.id = 0, .cpu = {0, 0}}});
    view_.emplace(*cpus_, loop_);
    gpus_.emplace(std::vector<Gpus::Gpu>{}, loop_);
    scrape_.emplace(*gpus_, *cpus_, loop_.now());
  }

  DomainMetrics scrape() {
    std::vector<DomainMetrics> all;
    scrape_->gather(*view_, [&](std::vector<DomainMetrics> domains) { all = std::move(domains); });
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? DomainMetrics{} : all.front();
  }

  VirtualLoop loop_;
  ScrapeClock clock_{loop_};
  std::optional<TimePoint> held_at_;
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

TEST_F(CpuScrape, DoesNotTakeTwoLooksAtOnceForACounterThatStands) {
  (void)scrape();
  loop_.advance(milliseconds(1));
  held_at_ = loop_.now();
  loop_.advance(milliseconds(10));
  EXPECT_TRUE(scrape().up);
}

}  // namespace
}  // namespace wattle::daemon
