// hw_samples.csv: every value that a run monitor measured.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run_monitor/rounds/row_gaps.hpp"
#include "run_monitor/tables/table_figures.hpp"
#include "sampling/energy_sum.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// The figures of a machine besides its GPUs.
struct SamplesResult {
  GpuTable gpus;
  std::vector<DomainSummary> domains;
  MachineSummary machine;
  std::optional<double> cpu_user_percent;
  std::optional<double> cpu_idle_percent;
};

/// Takes lines `time,device,index,uuid,quantity,value` of one run of a monitor, or of several after
/// each other. Threads: one at a time.
class SamplesTable : public RowCounts {
 public:
  /// A line without its end.
  void take(std::string_view line);
  [[nodiscard]] SamplesResult result() const;
  /// How many runs they are where there are several.
  [[nodiscard]] std::string note() const;

 private:
  /// The energy of a device: the monitor's running sums, which start again with each run of it.
  struct EnergySums {
    bool is_known = false;  ///< in this run
    double energy_j = 0.0;
    double uncertainty_j = 0.0;
    bool has_uncertainty = false;
    std::optional<double> common_j{};  ///< absent in files of earlier versions
    double unknown_s = 0.0;
    double integrated_s = 0.0;
    double length_s = 0.0;  ///< of the run until the newest row that has it
    Flags flags;

    /// The part of the uncertainty that may come back; all of it if unknown.
    [[nodiscard]] Joules common() const noexcept {
      return Joules(common_j.value_or(uncertainty_j));
    }
  };
  /// A time of rows.
  struct Moment {
    std::uint64_t number = 0;  ///< counts them; 0: none came yet
    std::int64_t ms = 0;
  };
  struct SampledDevice {
    std::string name;
    std::string uuid{};  ///< two of a name are of two machines, or were renumbered
    std::uint32_t index = 0;
    // Its rows in the current run.
    Moment first{};
    Moment last{};
    GpuStatistics spreads{};
    EnergySums run{};                 ///< of the run that goes on
    std::vector<EnergySums> ended{};  ///< one entry, the sum of those before; or none
  };
  /// A counter since boot, and by how much it grew while the monitor ran.
  struct CounterGrowth {
    std::optional<double> last;
    std::optional<double> sum;
    void add(double value) noexcept;
  };

  [[nodiscard]] bool take_row(std::string_view line);
  [[nodiscard]] bool move_to(std::string_view time);
  void begin_run();
  void take_machine(std::string_view device, std::string_view quantity, const Cell& cell);
  void take_device(SampledDevice& device, std::string_view quantity, const Cell& cell);
  [[nodiscard]] SampledDevice* device_named(std::string_view name, std::string_view index,
                                            std::string_view uuid);
  void note_row_of(SampledDevice& device) const noexcept;
  /// The energy of a device's run that ended at `end`: where its rows came late or stopped while
  /// others went on, that time is unknown.
  [[nodiscard]] EnergySums ended_run(const SampledDevice& device, const Moment& end) const noexcept;
  /// With its UUID where another device has the same.
  [[nodiscard]] std::string unique_name(const SampledDevice& device, std::string name) const;
  static void add(EnergySums& sum, const EnergySums& run) noexcept;
  [[nodiscard]] EnergySums total_of(const SampledDevice& device) const noexcept;
  /// `machine`: the sum of what counts in its total.
  void add_device(SamplesResult& result, EnergySum& machine, const SampledDevice& device) const;
  /// Why the total lacks a device; empty where it has all of it.
  [[nodiscard]] std::string why_missing(const SampledDevice& device) const;
  /// Adds what is missing of a kind; true if a device of it has an energy.
  bool add_missing_of(std::string_view kind, std::vector<MissingEnergy>& missing) const;
  [[nodiscard]] std::vector<MissingEnergy> total_missing() const;

  std::string time_text_;  ///< of the row before
  Moment now_{};           ///< of the newest row
  Moment before_{};        ///< the one before that
  Moment run_began_{};
  std::uint64_t runs_ = 0;
  RowGaps gaps_;
  std::optional<double> weight_;  ///< of the rows of this time
  std::vector<SampledDevice> devices_;
  /// Domains, or kinds of them, and why.
  std::map<std::string, std::string, std::less<>> not_measured_;
  WeightedStatistics cpu_user_;
  WeightedStatistics cpu_idle_;
  std::optional<double> peak_memory_;
  std::optional<double> memory_;
  std::array<CounterGrowth, 4> grown_{};  ///< disk read, written; network received, sent
};

}  // namespace wattle
