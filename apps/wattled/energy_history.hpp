// What was spent in the past, as far back as the daemon was asked to remember.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "hub.hpp"
#include "loop.hpp"
#include "sampling/energy_figure.hpp"
#include "sampling/readings.hpp"
#include "sensors/sensor.hpp"

namespace wattle::daemon {

/// The longest that can be remembered: ten readings a second of 3 bytes at most fit into what the
/// history of a channel takes (16 MiB) for longer than this.
inline constexpr std::chrono::seconds kLongestHistory = std::chrono::hours(24 * 4);

/// Reads all domains ten times a second, whether anybody asks or not. Threads: the loop's.
class EnergyHistory {
 public:
  /// How often all is read.
  static constexpr std::chrono::milliseconds kPeriod{100};

  /// `sensors` are its own. `kept`: how far back it can be asked, more than 0.
  EnergyHistory(std::vector<std::unique_ptr<Sensor>> sensors, Loop& loop, const Clock& clock,
                std::chrono::seconds kept);

  /// The thread that reads a device, which may block. It ends with the past.
  [[nodiscard]] std::shared_ptr<Worker> thread_of(const Domain& device) const;

  struct Energy {
    Domain domain;
    EnergyFigure figure;
  };
  /// The energy of each domain from `begin` to `end`, in their order. What lies before the kept
  /// time, or has not happened yet, is unknown. Of a window that ends now, counters that answer at
  /// once are read once more.
  [[nodiscard]] std::vector<Energy> energies(TimePoint begin, TimePoint end);
  /// The same for who may see CPUs in multiples of `quantum` alone: differences of counters that
  /// were rounded down, so that no choice of windows shows more. Absent where an end was not seen.
  [[nodiscard]] std::vector<Energy> coarse_energies(TimePoint begin, TimePoint end, Joules quantum);

 private:
  void tick();
  void make_coarse(std::size_t place, TimePoint begin, TimePoint end, Joules quantum,
                   EnergyFigure& figure) const;

  Loop& loop_;
  std::chrono::seconds kept_;
  Readings readings_;
  std::vector<Domain> domains_;
  Pace pace_;
};

}  // namespace wattle::daemon
