// What devices drew over time, for questions about their energy.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "client/update.hpp"
#include "sampling/history.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client {

/// What is measured of a device.
enum class Quantity : std::uint8_t { gpu, cpu, dram };

/// The powers that streams tell, each of which holds while its daemon lives, and the energy
/// counters that daemons have. Keeps them for so long as memory was set aside for; allocates for
/// what is new only.
///
/// Threads: `energy` any; everything else one at a time (the stream's).
class EnergyBook {
 public:
  struct Key {
    std::size_t server = 0;
    Quantity quantity = Quantity::gpu;
    DeviceId device = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// For so long a power counts without a sign of life: one comes 1 to 2 s after the last event,
  /// then once a second, and one may be late.
  static constexpr std::chrono::seconds kSilence{3};

  EnergyBook(std::chrono::seconds history, std::chrono::milliseconds counter_period)
      : history_(history), counter_period_(counter_period) {}
  EnergyBook(const EnergyBook&) = delete;
  EnergyBook& operator=(const EnergyBook&) = delete;
  ~EnergyBook() = default;

  [[nodiscard]] std::chrono::milliseconds counter_period() const noexcept {
    return counter_period_;
  }

  void note_power(const Key& key, TimePoint at, double power_w);
  /// The power is still that.
  void confirm_power(const Key& key, TimePoint at) noexcept;
  /// From then on nobody knows the power, or from when its silence was over.
  void lose_power(const Key& key, TimePoint at) noexcept;
  /// `ticks`: millijoules of a GPU, microjoules of a CPU; read within at +- half_width.
  void note_counter(const Key& key, TimePoint at, std::chrono::nanoseconds half_width,
                    std::uint64_t ticks);
  /// The next value of the counter cannot be compared with the last one.
  void break_counter(const Key& key) noexcept;
  /// This machine slept: nothing is known of that time.
  void note_suspend() noexcept;

  [[nodiscard]] ServerEnergy energy(std::size_t server, TimePoint begin, TimePoint end) const;

 private:
  /// How often a daemon looks at a device of which it tells changes alone. Of a few times from one
  /// change to the next the longest is no shorter than that.
  struct Looks {
    std::chrono::nanoseconds longest{0};
    unsigned changes = 0;
    TimePoint changed_at{};
  };
  struct Record {
    std::unique_ptr<History> power;
    std::unique_ptr<History> counter;
    Reading last_power{};
    Looks looks;
    TimePoint last_counter{};
  };

  static void note_change(Record& record) noexcept;
  [[nodiscard]] Record* find(const Key& key) noexcept;
  [[nodiscard]] std::unique_ptr<History> power_history(const Key& key) const;
  [[nodiscard]] std::unique_ptr<History> counter_history(const Key& key) const;

  const std::chrono::seconds history_;
  const std::chrono::milliseconds counter_period_;
  /// Held to add to `records_`, and by others to look: who adds can look without.
  mutable std::mutex mutex_;
  std::map<Key, Record> records_;
};

}  // namespace wattle::client
