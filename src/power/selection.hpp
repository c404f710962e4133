// The devices that a power monitor's options select.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "sensors/sensor.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle {

/// The options, with what does not depend on the machine checked: throws `InvalidArgument`. Says in
/// the log what it raised, and what is unwise.
[[nodiscard]] PowerMonitorOptions checked(PowerMonitorOptions options);

/// The monitored devices.
struct Selection {
  struct SelectedGpu {
    std::uint32_t index = 0;  ///< see `gpu_numbers`
    std::shared_ptr<Sensor> sensor;
    ChannelSet channels;      ///< none if it reports no power
    ChannelSet counter = {};  ///< its energy counter; none where it has none, or was not asked for
  };
  std::vector<SelectedGpu> gpus;                ///< in the order of the options, else ascending
  std::vector<std::shared_ptr<Sensor>> cpus{};  ///< with an energy counter at least
  std::vector<Refusal> missing{};               ///< of what was selected

  /// Channels in all.
  [[nodiscard]] std::size_t channels() const noexcept;
};

/// The selected GPUs, all of them ascending, with their channels of the power domains.
/// What is not there is added to `missing`, unless that is null. Throws `InvalidArgument`,
/// `NoSuchDevice`, `CapabilityError` as `PowerMonitor` does.
[[nodiscard]] std::vector<Selection::SelectedGpu> select_gpus(
    const std::vector<std::shared_ptr<Sensor>>& sensors, const std::vector<SensorRefusal>& refused,
    const GpuSelection& selection, std::vector<Refusal>* missing,
    const std::optional<std::vector<PowerDomain>>& domains);

/// Takes the sensors. `options` are checked. Throws as `select_gpus`, and `NoSuchDevice` where
/// nothing is left, unless `if_unavailable` says otherwise.
[[nodiscard]] Selection select(Survey& found, const PowerMonitorOptions& options);

/// Writes to the log what is not monitored although it was selected: domains that cannot be
/// read, and GPUs that have none of the power domains that were asked for.
void log_unmonitored(const Selection& selection, const std::vector<SensorRefusal>& refused,
                     const PowerMonitorOptions& options);

/// "GPU 0 has device_instant, GPU 1 has no power sensor": for messages.
[[nodiscard]] std::string domains_text(const std::vector<Selection::SelectedGpu>& gpus);

/// The power domains among `channels`, in the order of `PowerDomain`.
[[nodiscard]] std::vector<PowerDomain> domains_of(const Sensor& sensor, ChannelSet channels);

}  // namespace wattle
