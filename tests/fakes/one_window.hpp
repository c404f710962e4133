// Devices that are read for one window.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sampling/measured_window.hpp"

namespace wattle::fakes {

struct OwnReadings {
  Readings own;
};

/// A window, and the readings that it is of.
class OneWindow : private OwnReadings, public MeasuredWindow {
 public:
  OneWindow(std::vector<std::unique_ptr<Sensor>> sensors, const TimeSource& clock,
            const ReadingsOptions& options = {})
      : OwnReadings{Readings(std::move(sensors), clock, options)}, MeasuredWindow(own) {}
};

}  // namespace wattle::fakes
