// Reads one GPU.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sensors/nvml/busy_times.hpp"
#include "sensors/nvml/gpu.hpp"
#include "sensors/nvml/query.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

/// After the GPU is lost its readings are `gone`; it is looked for again, by its UUID, after a
/// second, and then at ever longer intervals up to a minute. Threads: any, several at once; each
/// may stay in the driver for as long as that pleases, and keeps NVML loaded until then through the
/// owner's `shared_ptr`.
class NvmlGpuSensor final : public Sensor {
 public:
  NvmlGpuSensor(std::shared_ptr<Session> session, NvmlGpu gpu, const TimeSource& clock);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override {
    return gpu_.channels;
  }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &gpu_.info; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  [[nodiscard]] std::optional<std::vector<DeviceProcess>> processes() override;
  [[nodiscard]] std::optional<BusyTime> busy_time() override;
  // In gpu_settings.cpp. A value that the GPU does not take is refused, by the range of the driver
  // where it knows one; the driver rounds clocks to those that the GPU has.
  [[nodiscard]] DeviceSettings settings() noexcept override;
  [[nodiscard]] std::optional<SettingFailure> check(const DeviceSetting& setting) override;
  [[nodiscard]] std::optional<SettingFailure> set(const DeviceSetting& setting) override;

 private:
  /// The channels among `wanted` that one query fills, as its items.
  [[nodiscard]] Items items_of(Query query, ChannelSet wanted) const noexcept;
  /// Makes one call and fills the readings it is good for. False: the GPU is gone.
  bool read_query(Query query, Items items, ChannelSet wanted, TimePoint& before,
                  std::span<Reading> readings) noexcept;
  void fill_gone(ChannelSet wanted, std::span<Reading> readings) const noexcept;
  void note_gone() noexcept;
  /// True if there is a handle to read with.
  [[nodiscard]] bool is_here() noexcept;

  std::shared_ptr<Session> session_;
  NvmlGpu gpu_;
  const TimeSource& clock_;
  std::atomic<Handle> handle_;
  std::atomic<TimePoint> look_again_{TimePoint::min()};  ///< min: not lost
  std::atomic<std::chrono::seconds> patience_{std::chrono::seconds(0)};
  std::mutex samples_mutex_;
  EngineTimes engine_times_;
  BusySamples busy_samples_;
};

}  // namespace wattle::nvml
