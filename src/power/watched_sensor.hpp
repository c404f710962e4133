// Counts the faults of the GPUs' sensors, and reports them to the log.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "power/power_domain.hpp"

namespace wattle {

/// Forwards the readings of a sensor unchanged, with update intervals that were found for its
/// channels. Threads: `read_some` one at a time; the counts any.
class WatchedSensor final : public ForwardingSensor {
 public:
  /// `channels`: those of the sensor, with update intervals.
  WatchedSensor(std::shared_ptr<Sensor> sensor, std::vector<Channel> channels)
      : ForwardingSensor(std::move(sensor)), channels_(std::move(channels)) {}

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

  /// The events of one power domain so far.
  struct Counts {
    std::uint64_t failed = 0;  ///< readings without a value, while the GPU was there
    std::uint64_t zeros = 0;   ///< values of 0 W between two above that
  };
  [[nodiscard]] Counts counts(PowerDomain domain) const noexcept;
  /// The GPU was not there when it was last asked.
  [[nodiscard]] bool is_gone() const noexcept { return gone_.load(std::memory_order_relaxed); }

 private:
  struct ChannelWatch {
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> zeros{0};
    // The reader's own.
    bool was_above = false;  ///< the last value that was not 0 is known
    bool is_zero = false;    ///< the last value was 0, for about one update, and none before it
    TimePoint zero_since;    ///< where it is
  };
  /// `update`: from one value of the sensor to the next.
  static void note(ChannelWatch& watch, const Reading& reading,
                   std::chrono::nanoseconds update) noexcept;

  std::vector<Channel> channels_;
  std::array<ChannelWatch, kPowerDomains.size()> watches_{};
  std::atomic<bool> gone_{false};
};

/// A monitored GPU; `gpu` is what messages call it.
struct NamedGpu {
  std::string gpu;
  std::shared_ptr<const WatchedSensor> sensor;
};

/// Logs for each GPU when it is lost and when it is back, power domains that could not be read 11
/// times more, and values of 0 W between two values above it. Threads: one at a time.
class FaultReport {
 public:
  /// Readings of one power domain without a value for each message.
  static constexpr std::uint64_t kFailuresPerReport = 11;

  explicit FaultReport(const std::vector<NamedGpu>& sensors);

  /// Reports what is new: at most one message for each GPU, power domain and cause.
  void report();

 private:
  struct Reported {
    std::uint64_t failed = 0;
    std::uint64_t zeros = 0;
  };
  struct ReportedGpu {
    NamedGpu monitored;
    std::array<Reported, kPowerDomains.size()> reported{};
    bool is_gone = false;
  };
  static void report_presence(ReportedGpu& gpu);
  static void report_domain(ReportedGpu& gpu, PowerDomain domain);

  std::vector<ReportedGpu> gpus_;
};

}  // namespace wattle
