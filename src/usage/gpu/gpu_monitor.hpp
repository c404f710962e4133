// Follows what the GPUs do while a command runs, and whether they do it for the command.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sampling/readings.hpp"
#include "usage/gpu/gpu_usage.hpp"
#include "usage/gpu/running_gauge_window.hpp"
#include "usage/tree/process_tree.hpp"

namespace wattle {

/// Which devices of `Readings` are summed up, by their places in `readings.devices()`.
struct SummedGpus {
  std::vector<bool> included;  ///< sums are about these alone
  std::vector<bool> counted;   ///< and those of utilization about these
};

/// Why the list of a GPU's users may lack some; empty where it has all. `sees_files`: see
/// `sees_files_of_all`. Threads: any.
[[nodiscard]] std::string_view why_users_are_missing(const Domain& gpu, bool sees_files) noexcept;

/// Follows the devices of `Readings`. Threads: one at a time.
class GpuMonitor {
 public:
  /// The options of `Readings` for samples every `interval`: power at least ten times a second; the
  /// processes on each device every `interval`, from 0.1 to 1 s.
  [[nodiscard]] static ReadingsOptions sampling(std::chrono::nanoseconds interval);

  /// Finds out whose a process is.
  using KinshipOf = std::function<Kinship(pid_t)>;

  /// `readings` outlives it. `sees_files`: as `sees_files_of_all`, which is asked where it is
  /// absent.
  GpuMonitor(const Readings& readings, SummedGpus choice, std::optional<bool> sees_files = {});

  /// Reads the newest values, and whose the processes on each GPU are that were listed since the
  /// command `began`. At least once a second: each list counts.
  void sample(const KinshipOf& kinship_of, TimePoint began);

  /// The command `began` and `ended`.
  [[nodiscard]] GpusUsage usage(TimePoint began, TimePoint ended) const;

  /// All GPUs together at the last `sample`.
  struct Now {
    std::optional<std::uint64_t> used_bytes;
    std::optional<std::uint64_t> main_bytes;
    std::optional<std::uint64_t> descendants_bytes;
    std::optional<double> sum_percent;
  };
  [[nodiscard]] const Now& now() const noexcept { return now_; }
  /// The total memory of the summed devices; absent if one does not report it.
  [[nodiscard]] std::optional<double> memory_total_bytes() const noexcept;
  /// The devices whose utilization is in the sums.
  [[nodiscard]] unsigned counted() const noexcept {
    return static_cast<unsigned>(std::ranges::count(choice_.counted, true));
  }

 private:
  /// For how long a GPU's engines worked.
  struct EngineUse {
    std::chrono::nanoseconds command{0};
    std::chrono::nanoseconds others{0};
  };
  struct GpuUse {
    std::uint64_t lists_seen = 0;  ///< number of the newest process list that was read
    bool was_used = false;
    bool was_used_by_others = false;
    bool all_known =
        true;  ///< every process in every list could be distinguished from the command's
    bool has_mps_server = false;  ///< which works for others, who are not listed one by one
    // From the newest list.
    std::map<pid_t, Kinship> kinships;
    std::map<pid_t, std::chrono::nanoseconds> engine_times;
    std::optional<EngineUse> engine_use;   ///< absent where a process has no engine time
    std::optional<TimePoint> listed_at;    ///< the newest of the lists that count
    std::chrono::nanoseconds unlisted{0};  ///< the longest time without one, since the start
    std::optional<std::uint64_t> total_bytes;
    std::optional<std::uint64_t> peak_bytes;
    RunningGaugeWindow utilization;
    // Absent where the driver has no samples of it.
    std::optional<BusyTime> first_busy;  ///< in the first list that counts
    std::optional<BusyTime> busy;        ///< since then
    std::optional<double> max_percent;
    std::optional<double> max_celsius;
    // At the last sample.
    std::optional<std::uint64_t> used_bytes;
    std::optional<double> percent;
    // From the newest list.
    std::optional<std::uint64_t> main_bytes;
    std::optional<std::uint64_t> descendants_bytes;
  };

  [[nodiscard]] std::string why_not_known(const GpuUse& gpu, TimePoint began,
                                          TimePoint ended) const;
  [[nodiscard]] static std::string why_others_not_known(const GpuUse& gpu, TimePoint began,
                                                        TimePoint ended);
  static void add_busy_time(GpuUse& gpu, const ProcessList& list);
  static void add_engine_times(GpuUse& gpu, const std::vector<DeviceProcess>& processes,
                               bool is_first_list);
  /// Over an interval.
  struct MeanUtilization {
    std::optional<double> percent;
    std::string gap;  ///< why it is not known although it was read; else empty
  };
  [[nodiscard]] static MeanUtilization mean_utilization(const Readings::ObservedGpu& device,
                                                        const GpuUse& gpu, TimePoint began,
                                                        TimePoint ended);
  [[nodiscard]] GpuUsage usage_of(const Readings::ObservedGpu& device, const GpuUse& gpu,
                                  const MeanUtilization& mean, TimePoint began,
                                  TimePoint ended) const;
  void sample_gpu(const Readings::ObservedGpu& device, GpuUse& gpu, TimePoint began) const;
  void sample_processes(const Readings::ObservedGpu& device, GpuUse& gpu,
                        const KinshipOf& kinship_of, TimePoint began);

  const Readings& readings_;
  bool machine_pids_;  ///< the numbers that drivers list are those of this process's own /proc
  bool sees_files_;    ///< lists that are made from the open files of processes are whole
  SummedGpus choice_;
  std::vector<GpuUse> gpus_;
  Now now_;
  GpusUsage sums_;  ///< the largest ones so far
};

}  // namespace wattle
