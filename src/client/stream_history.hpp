// The history of the devices' powers and energy counters.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "client/update.hpp"
#include "sampling/history.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client {

/// The measured quantity of a device.
enum class MeasuredQuantity : std::uint8_t { gpu, cpu, dram };

/// Keeps the powers from streams and the energy counters of daemons. A power holds until the next
/// one while its daemon is alive. Allocates only for new devices.
///
/// Threads: `energy` any; everything else one at a time (the stream's).
class StreamHistory {
 public:
  struct QuantityKey {
    std::size_t server = 0;
    MeasuredQuantity quantity = MeasuredQuantity::gpu;
    DeviceId device = 0;
    friend auto operator<=>(const QuantityKey&, const QuantityKey&) = default;
  };
  /// A power holds for this time without a sign of life. Signs come 1 to 2 s after the last event,
  /// then once per second, and one may be late.
  static constexpr std::chrono::seconds kSilence{3};

  StreamHistory(std::chrono::seconds history, std::chrono::milliseconds counter_period)
      : history_(history), counter_period_(counter_period) {}
  StreamHistory(const StreamHistory&) = delete;
  StreamHistory& operator=(const StreamHistory&) = delete;
  ~StreamHistory() = default;

  [[nodiscard]] std::chrono::milliseconds counter_period() const noexcept {
    return counter_period_;
  }

  void note_power(const QuantityKey& key, TimePoint at, double power_w);
  /// The last power still holds at `at`.
  void confirm_power(const QuantityKey& key, TimePoint at) noexcept;
  /// The power is unknown from `at` on, or from the end of `kSilence` if that is earlier.
  void lose_power(const QuantityKey& key, TimePoint at) noexcept;
  /// `ticks`: mJ of a GPU, µJ of a CPU; read at `at` ± `half_width`.
  void note_counter(const QuantityKey& key, TimePoint at, std::chrono::nanoseconds half_width,
                    std::uint64_t ticks);
  /// The next value of the counter does not compare with the last one.
  void break_counter(const QuantityKey& key) noexcept;
  /// This machine was suspended: its energy in that time is unknown.
  void note_suspend() noexcept;

  [[nodiscard]] ServerEnergy energy(std::size_t server, TimePoint begin, TimePoint end) const;

 private:
  /// Estimates the sampling period of a daemon that sends only changes: the longest of the last
  /// times between changes is at least one period.
  struct PeriodEstimate {
    std::chrono::nanoseconds longest{0};
    unsigned changes = 0;
    TimePoint changed_at{};
  };
  struct Record {
    std::unique_ptr<History> power;
    std::unique_ptr<History> counter;
    Reading last_power{};
    PeriodEstimate period_estimate;
    TimePoint last_counter{};
  };

  static void note_change(Record& record) noexcept;
  [[nodiscard]] Record* find(const QuantityKey& key) noexcept;
  [[nodiscard]] std::unique_ptr<History> power_history(const QuantityKey& key) const;
  [[nodiscard]] std::unique_ptr<History> counter_history(const QuantityKey& key) const;

  const std::chrono::seconds history_;
  const std::chrono::milliseconds counter_period_;
  /// The stream's thread holds it to add to `records_`; other threads hold it to read.
  mutable std::mutex mutex_;
  std::map<QuantityKey, Record> records_;
};

}  // namespace wattle::client
