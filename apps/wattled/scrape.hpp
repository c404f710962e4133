// Collects the metrics of /metrics from the devices.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "cpus.hpp"
#include "gpus.hpp"
#include "metrics.hpp"

namespace wattle::daemon {

/// Threads: the loop's.
class Scrape {
 public:
  /// `started`: the time at which the reported CPU counters are 0.
  Scrape(Gpus& gpus, Cpus& cpus, TimePoint started)
      : gpus_(gpus), cpus_(cpus), started_unix_s_(to_unix(started)) {}

  /// Reads the CPUs through `view`, asks the GPUs, then calls `then` with all domains.
  void gather(CpuView& view, std::function<void(std::vector<DomainMetrics>)> then);

  [[nodiscard]] double started_unix_s() const noexcept { return started_unix_s_; }

 private:
  /// Mean powers are per view, since views show different energies.
  using Key = std::pair<const CpuView*, Domain>;

  [[nodiscard]] DomainMetrics of_counter(const CpuView& view, const Channel& channel,
                                         const CounterState& state);

  Gpus& gpus_;
  Cpus& cpus_;
  double started_unix_s_;
  std::map<Key, MeanPower> powers_;
};

}  // namespace wattle::daemon
