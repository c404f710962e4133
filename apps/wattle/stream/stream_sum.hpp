// Sums of the devices that `wattle stream` follows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/text/quantity.hpp"
#include "stream/stream_lines.hpp"

namespace wattle::app {

/// The sum of what is known, and what it lacks.
struct StreamSum {
  std::optional<double> power_w{};  ///< of the devices whose connection is live
  MeasuredEnergy energy{};          ///< `unknown`: the longest unknown time of a device
  std::optional<Uncertain> mean{};  ///< the sum of the mean powers, whose gaps differ
  std::size_t powers_missing = 0;   ///< devices
  std::size_t energies_missing = 0;
  std::size_t servers_missing = 0;  ///< nothing is known of their devices
  std::size_t servers_partial = 0;  ///< nothing is known of their GPUs, or of their CPUs

  [[nodiscard]] bool is_power_lower_bound() const noexcept;
  [[nodiscard]] bool is_energy_lower_bound() const noexcept;
};

/// `elapsed`: how long the energies were measured.
[[nodiscard]] StreamSum sum_of(std::span<const StreamedServer> servers, Seconds elapsed);

/// The device's power is the one of now.
[[nodiscard]] bool is_live(const StreamedServer& server, const StreamedDevice& device);

/// "excludes 2 devices, 1 server"; empty: nothing is missing. `devices`: how many are.
[[nodiscard]] std::string missing_text(const StreamSum& sum, std::size_t devices);

}  // namespace wattle::app
