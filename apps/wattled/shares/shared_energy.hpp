// The shares of groups of processes in the measured energy: --enable shares.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/scrape.hpp"
#include "base/worker.hpp"
#include "devices/cpus.hpp"
#include "devices/gpus.hpp"
#include "http/loop.hpp"
#include "http/pace.hpp"
#include "shares/measured_steps.hpp"
#include "shares/share_files.hpp"
#include "shares/share_ledger.hpp"
#include "usage/gpu/gpu_division.hpp"

namespace wattle::daemon {

struct SharesOptions {
  std::chrono::seconds interval{5};
  std::size_t most_rows = 200;
  std::size_t most_processes = 0;  ///< on GPUs, with counters of their own; 0: none are counted
  SharePlaces places{};
  /// The rounding for TCP clients without a token, if such clients are served: shares are then of
  /// energies rounded alike, and may be shown to everybody. 0: not rounded.
  std::chrono::milliseconds public_cpu_period{0};
};

/// Divides every interval what `/metrics` shows as the energy of CPUs, their memory and GPUs. Reads
/// files in a thread of its own. Threads: the loop's.
class SharedEnergy {
 public:
  SharedEnergy(Scrape& scrape, Gpus& gpus, Cpus& cpus, Loop& loop, SharesOptions options);

  [[nodiscard]] const ShareLedger& ledger() const noexcept { return ledger_; }
  /// The energy of each GPU by process; null if that is not asked for.
  [[nodiscard]] const ProcessLedger* processes() const noexcept {
    return processes_ ? &*processes_ : nullptr;
  }
  [[nodiscard]] const PodNames& pod_names() const noexcept { return pod_names_; }
  /// The idle power after the last interval; absent before it.
  struct Idle {
    bool is_measured = false;  ///< by a baseline; else an upper bound
    Watts power;
    std::string note{};
  };
  [[nodiscard]] const std::optional<Idle>& idle() const noexcept { return idle_; }
  /// The energy that is not divided, and why.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// When it started, and the end of the last interval; absent before the first.
  [[nodiscard]] TimePoint since() const noexcept { return since_; }
  [[nodiscard]] const std::optional<TimePoint>& divided_at() const noexcept { return last_at_; }
  [[nodiscard]] const SharesOptions& options() const noexcept { return options_; }
  /// True if shares may be shown to those who see CPU energy rounded.
  [[nodiscard]] bool is_public() const noexcept { return options_.public_cpu_period.count() > 0; }

 private:
  using Domains = std::vector<DomainMetrics>;
  /// Energies of an interval, for the ledgers.
  struct IntervalEnergies {
    Seconds length{0};
    std::vector<DividedEnergy> groups{};
    std::vector<EnergyAmong<GpuProcess>> processes{};
    std::set<GpuProcess> live{};  ///< on GPUs
  };

  void tick();
  void gather(std::shared_ptr<const ShareFiles> files);
  void divide(const ShareFiles& files, const Domains& domains, const Gpus::Answers& answers);
  [[nodiscard]] std::optional<DividedEnergy> divide_cpus(const ShareFiles& files,
                                                         const Domains& domains, TimePoint at,
                                                         Seconds length);
  [[nodiscard]] GpuLoad load_of(const Domain& gpu, const DomainMetrics& metrics,
                                const DeviceAnswer& answer, TimePoint at);
  void divide_one_gpu(const ShareFiles& files, const DomainMetrics& metrics, wire::DeviceId id,
                      const Gpus::Answers& answers, TimePoint at, IntervalEnergies& energies);
  [[nodiscard]] IdlePower idle_power(const ShareFiles& files,
                                     const std::vector<std::string>& domains, Watts power);

  Scrape& scrape_;
  Gpus& gpus_;
  Loop& loop_;
  SharesOptions options_;
  CpuView view_;  ///< of its own: mean powers are of the time since a view was read
  std::shared_ptr<ShareFileReader> reader_;  ///< shared with the thread
  /// Shared with results that may come later than the end of this.
  std::shared_ptr<std::function<void(std::shared_ptr<const ShareFiles>)>> take_;
  Worker worker_;
  bool is_busy_ = false;
  TimePoint since_;
  std::optional<TimePoint> last_at_{};
  ShareLedger ledger_;
  std::optional<ProcessLedger> processes_{};
  MeasuredSteps steps_{};
  std::optional<Watts> lowest_{};  ///< power of CPUs and their memory in an interval
  std::map<Domain, GpuUsers> users_{};
  std::uint64_t lists_ = 0;
  bool sees_machine_pids_;
  bool sees_all_files_;
  PodNames pod_names_{};
  std::optional<Idle> idle_{};
  std::string no_groups_{};
  bool is_whole_ = true;
  Pace pace_;
};

}  // namespace wattle::daemon
