// The table of devices on a screen of `wattle top`, and the powers of the last periods beside each
// device.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text/text_style.hpp"
#include "top/observation.hpp"
#include "top/units.hpp"

namespace wattle::app {

/// Threads: one at a time.
class PowerTrails {
 public:
  static constexpr std::size_t kMost = 60;

  void add(const TopObservation& seen);
  void clear() { trails_.clear(); }
  /// The last `width` periods as eighths of a block, from 0 to the largest of them; a blank where
  /// the power is not known.
  [[nodiscard]] std::string plot(const std::string& key, std::size_t width = kMost) const;
  /// Names a device on all machines.
  [[nodiscard]] static std::string key_of(const TopDevice& device) {
    return device.machine + "\n" + device.name;
  }

 private:
  std::map<std::string, std::deque<std::optional<double>>> trails_{};
};

/// Names of the columns, a row for each device and for the total: at most `most` lines. Devices
/// without room are counted; the total always stays.
[[nodiscard]] std::vector<std::string> device_lines(const TopObservation& seen,
                                                    const PowerTrails& trails, const TopUnit& unit,
                                                    std::size_t width, std::size_t most,
                                                    const TextStyle& style);

}  // namespace wattle::app
