// Samples and traces as tests need them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wattle/energy_trace.hpp"

namespace wattle::testing_samples {

inline DomainNames domains(std::vector<std::string> names) {
  return std::make_shared<const std::vector<std::string>>(std::move(names));
}

/// An energy that is known to the last digit.
inline MeasuredEnergy joules(double energy) { return {.energy = Joules(energy)}; }

/// One that is not.
inline MeasuredEnergy nothing_known() { return {}; }

struct Energy {
  std::string domain;
  MeasuredEnergy energy;
};

struct Facts {
  double timestamp_unix_s = 1669000000.0;
  double duration_s = 1.0;
};

inline EnergySample sample(const std::string& tag, const std::vector<Energy>& energies,
                           const Facts& facts = {}) {
  std::vector<std::string> names;
  std::vector<MeasuredEnergy> measured;
  for (const Energy& energy : energies) {
    names.push_back(energy.domain);
    measured.push_back(energy.energy);
  }
  return {from_unix(facts.timestamp_unix_s), tag, Seconds(facts.duration_s), domains(names),
          measured};
}

/// `count` samples of 1 J with the tags "0", "1" ..., which share their list of domains.
inline EnergyTrace many_samples(std::size_t count) {
  const DomainNames names = domains({"package_0", "nvidia_gpu_0"});
  const TimePoint begin = from_unix(1669000000.0);
  std::vector<EnergySample> samples;
  samples.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    samples.emplace_back(begin, std::to_string(i), Seconds(0.5), names,
                         std::vector{joules(1.0), joules(2.0)});
  }
  return EnergyTrace(std::move(samples));
}

}  // namespace wattle::testing_samples
