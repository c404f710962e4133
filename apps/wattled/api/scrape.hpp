// Collects the metrics of /metrics from the devices.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/metrics.hpp"
#include "devices/cpus.hpp"
#include "devices/energy_totals.hpp"
#include "devices/gpus.hpp"

namespace wattle::daemon {

/// The CPU time and memory used by this process. Threads: any.
[[nodiscard]] OwnCost own_cost();

/// Threads: the loop's.
class Scrape {
 public:
  /// `others`: meters, rails and batteries. The reported CPU counters are 0 now.
  Scrape(Gpus& gpus, Gpus& others, Cpus& cpus, Loop& loop)

      : gpus_(gpus),
        others_(others),
        cpus_(cpus),
        loop_(loop),
        started_unix_s_(to_unix(loop.now())),
        totals_(loop) {}

  void set_cpu_model(std::string model) { cpu_model_ = std::move(model); }
  /// Finds energies that no counter shows with it.
  void follow(std::shared_ptr<Readings> device) { totals_.add(std::move(device)); }

  /// Reads the CPUs through `view`, asks the GPUs and the others, then calls `then` with all
  /// domains.
  void gather(CpuView& view, std::function<void(std::vector<DomainMetrics>)> then);

  [[nodiscard]] double started_unix_s() const noexcept { return started_unix_s_; }
  /// True if one of the others was gone when it was last asked.
  [[nodiscard]] bool lacks_others() const noexcept { return !gone_.empty(); }

 private:
  /// Mean powers are per view, since views show different energies.
  using Key = std::pair<const CpuView*, Domain>;
  using Totals = std::vector<EnergyTotals::DomainTotal>;

  [[nodiscard]] DomainMetrics of_counter(const CpuView& view, const Channel& channel,
                                         const CounterState& state);
  /// Adds the mean power of a GPU that shows its energy alone.
  void add_power_of_counter(const CpuView& view, const Sensor& sensor, const DeviceAnswer& answer,
                            std::vector<DomainMetrics>& domains);
  /// Adds what the others answered.
  void add_others(const CpuView& view, const Gpus::Answers& answers,
                  std::vector<DomainMetrics>& domains);
  /// Adds the energies of what has no counter, as the view may see them.
  void add_totals(const CpuView& view, std::vector<DomainMetrics>& domains);
  [[nodiscard]] Totals coarse_totals(const CpuView& view);

  Gpus& gpus_;
  Gpus& others_;
  Cpus& cpus_;
  Loop& loop_;
  double started_unix_s_;
  std::string cpu_model_;
  EnergyTotals totals_;
  std::map<Key, PowerSinceScrape> powers_;
  /// The totals last shown to a coarse view, and when.
  Totals coarse_;
  TimePoint coarse_at_{};
  std::set<wire::DeviceId> gone_;
};

}  // namespace wattle::daemon
