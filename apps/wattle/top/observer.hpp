// Reads this machine for `wattle top`: devices, processes, and what shares are made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/baseline.hpp"
#include "estimate/cpu_load.hpp"
#include "sampling/readings.hpp"
#include "sensors/domain_traits.hpp"
#include "top/observation.hpp"
#include "top/process_watch.hpp"
#include "top/top_options.hpp"
#include "wattle/estimate.hpp"

namespace wattle::app {

/// Energy is counted from when it was made, or from `reset`, by the counters and gauges of every
/// device: also what was spent between two observations. Threads: one at a time.
class TopObserver {
 public:
  /// `found`: the sensors that are read, of these kinds of domains. Throws `Error` where no thread
  /// can be started.
  TopObserver(const TopOptions& options, Survey found, DomainKinds kinds = DomainKinds::all());

  /// Observes the time since the last observation, or the start. Waits for slow drivers, 0.1 s at
  /// most.
  [[nodiscard]] TopObservation observe();
  /// The session starts again, with the next observation.
  void reset() noexcept { wants_reset_ = true; }

 private:
  void start_session(TimePoint at);
  void read(Capture& capture);
  void fill_gpu(TopDevice& device, const Readings::ObservedGpu& gpu);
  void fill_users(TopDevice& device, const Readings::ObservedGpu& gpu);
  /// One of the notes has this reason.
  [[nodiscard]] bool is_said(std::string_view reason) const;
  void add_machine(TopObservation& seen);
  void add_idle(TopObservation& seen);
  void add_estimate(TopObservation& seen);

  System system_;
  Readings readings_;
  std::vector<PrintableText> notes_;
  std::string no_energy_;  ///< why no energy of CPUs is measured
  Capture first_;          ///< at the start of the session
  Capture last_;           ///< at the last observation
  TimePoint begin_;
  TimePoint last_at_;
  bool wants_reset_ = false;
  ProcessWatch processes_;
  CpuLoadReader load_reader_;
  std::optional<CpuMoment> last_load_;
  MachineIdentity machine_;
  KeptBaseline baseline_;
  std::vector<std::string> shared_;  ///< the domains that a baseline is of, sorted
  bool estimates_ = false;
  std::optional<EnergyEstimator> estimator_;
  std::map<Domain, GpuUsers> gpu_users_;
  bool sees_machine_pids_ = false;  ///< drivers number processes as procfs does
  bool sees_all_files_ = false;     ///< which files the processes of all users have open
};

}  // namespace wattle::app
