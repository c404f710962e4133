// A machine whose counters do what a test says, under a meter that runs in virtual time.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "energy/metered_domains.hpp"
#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle::tests {

/// The unit of its counters.
inline constexpr double kTickJ = 1.0 / 16384.0;

/// Threads: one at a time.
class MeteredMachine {
 public:
  /// Adds a domain whose counter advances evenly.
  MeteredMachine& draws(Domain domain, Watts power, std::uint64_t start_ticks = 0) {
    return shows(
        fakes::constant_power(fakes::counter_channel(domain), power, clock_.at(), start_ticks));
  }
  MeteredMachine& shows(fakes::ScriptedCounter counter) {
    domains_.push_back(counter.channel.domain);
    counters_.push_back(std::move(counter));
    return *this;
  }
  /// A domain that was asked for and cannot be read.
  MeteredMachine& lacks(Domain domain) {
    domains_.push_back(domain);
    parts_.missing.push_back({domain.name(), "its counter cannot be read", "run as root"});
    return *this;
  }
  MeteredMachine& has(std::shared_ptr<EnergySource> source) {
    parts_.sources.push_back(std::move(source));
    return *this;
  }
  MeteredMachine& aligned() {
    parts_.aligned = true;
    return *this;
  }
  MeteredMachine& may_lack_domains() {
    parts_.may_lack_domains = true;
    return *this;
  }

  /// Once, when all was said. The machine outlives what is made.
  [[nodiscard]] std::shared_ptr<detail::MeteredDomains> domains() {
    if (!counters_.empty()) {
      parts_.sensors.push_back(
          std::make_unique<fakes::ScriptedSensor>(std::move(counters_), clock_));
    }
    parts_.domains = domains_;
    parts_.starts_keeper = false;
    parts_.sleep = [this](std::chrono::nanoseconds time) { clock_.advance(time); };
    return std::make_shared<detail::MeteredDomains>(std::move(parts_), clock_);
  }
  [[nodiscard]] EnergyMeter meter(std::string default_tag = "") {
    return detail::EnergyMeterMaker::meter(domains(), std::move(default_tag));
  }
  [[nodiscard]] EnergyReader reader() { return detail::EnergyMeterMaker::reader(domains()); }

  [[nodiscard]] fakes::VirtualClock& clock() noexcept { return clock_; }
  void wait(std::chrono::nanoseconds time) noexcept { clock_.advance(time); }

 private:
  fakes::VirtualClock clock_;
  std::vector<fakes::ScriptedCounter> counters_;
  std::vector<Domain> domains_;
  detail::MeterParts parts_;
};

}  // namespace wattle::tests
