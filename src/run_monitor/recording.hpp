// A hardware monitor without its thread: who has it tick decides when.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "run_monitor/hardware_rows.hpp"
#include "run_monitor/machine_reader.hpp"
#include "run_monitor/row_file.hpp"
#include "sampling/energy_sum.hpp"
#include "sampling/readings.hpp"
#include "sensors/sensor.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// `begin`, then `tick` every `period`, the last time with `last`.
/// Threads: one at a time; `files` any.
class Recording {
 public:
  /// Opens the files and throws as `HardwareMonitor::start`. `options` are checked. `clock`
  /// outlives everything that may be stuck in a driver. The first row names what was refused.
  Recording(Survey found, const TimeSource& clock, const std::filesystem::path& folder,
            const HardwareMonitorOptions& options);

  /// Reads all once: GPUs have a row now, shares of time start.
  void begin() noexcept;
  /// At each row's time all is read and written; in between only what could wrap around unseen.
  void tick(bool last) noexcept;
  [[nodiscard]] std::chrono::nanoseconds period() const noexcept { return period_; }

  /// There is nothing that could be read, and no file.
  [[nodiscard]] bool is_empty() const noexcept { return !samples_file_; }
  [[nodiscard]] HardwareFiles files() const;

 private:
  /// A domain with known energy. Its window restarts after many rows, which bounds the history.
  struct RecordedEnergy {
    std::string cells;  ///< see `device_cells`
    bool has_gauge = false;
    WindowSum ended{};                 ///< of the windows before
    std::optional<TimePoint> begin{};  ///< of the window; absent before the first row
    std::optional<Boundary> first{};   ///< what its counter showed then
    int rows = 0;                      ///< in the window
    // As of the row before.
    std::optional<Boundary> last{};  ///< of its counter
    TimePoint reported_until{};
    Flags reported_flags{};
  };
  struct RecordedGpu {
    std::string cells;
    bool is_nvidia = false;
    std::uint32_t index = 0;
  };

  void name_devices();
  void name_missing(const std::vector<SensorRefusal>& refused, const GpuSelection& gpus);
  void open_files(const std::filesystem::path& folder, bool overwrite);
  void clear_files();
  /// The time of a row at `now`, to the millisecond; no two rows have the same.
  [[nodiscard]] double row_time(TimePoint now) noexcept;
  void write(std::chrono::nanoseconds patience, bool last);
  [[nodiscard]] GpuValues read_gpu(const Readings::ObservedGpu& device,
                                   TimePoint since) const noexcept;
  void add_gpus(TimePoint since, const std::string& local_time);
  void add_cpu(const MachineState& machine, bool last, const std::string& utc_time);
  void add_energies(TimePoint now);
  void add_energy(RecordedEnergy& energy, const WindowSum& windows);

  const TimeSource& clock_;
  MachineReader machine_;
  std::set<Domain> gauged_;  ///< domains whose power a gauge shows
  Readings readings_;
  Capture shown_;                         ///< in the newest row
  std::vector<RecordedGpu> gpus_;         ///< as `readings_.devices()`
  std::vector<RecordedEnergy> energies_;  ///< as `readings_.domains()`
  /// Domains, and kinds (see `kKindsInTotal`), that a total may lack, and why.
  std::map<std::string, std::string> missing_;
  Fd folder_;  ///< locked: no other monitor writes there
  std::optional<RowFile> gpu_file_;
  std::optional<RowFile> dmon_file_;
  std::optional<RowFile> cpu_file_;
  std::optional<RowFile> samples_file_;
  std::chrono::nanoseconds period_;
  std::int64_t ticks_per_row_;
  std::int64_t ticks_ = 0;
  std::optional<CpuTimes> last_cpu_;
  double last_row_ms_ = 0.0;  ///< since 1970
  bool has_cpu_row_ = false;
  bool has_failed_ = false;
  SampleRows samples_;
  std::string gpu_rows_;  ///< these are reused
  std::string dmon_rows_;
  std::string unknown_gpu_rows_;
  std::string unknown_dmon_rows_;
  std::string cpu_row_;
};

}  // namespace wattle
