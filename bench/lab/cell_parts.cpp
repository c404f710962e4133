#include "lab/cell_parts.hpp"

#include <string>

namespace wattle::lab {

Machine gpu(std::string_view name, const UpdateModel& update, double window_s) {
  /// A call into a GPU's driver takes longer than a counter of the CPU's.
  constexpr ReaderModel kDriverCall = {.shortest_s = 20e-6, .mean_extra_s = 30e-6};
  return {.name = std::string(name),
          .gauge = GaugeModel{.name = std::string(name), .update = update, .window_s = window_s},
          .reader = kDriverCall};
}

Load periodic(std::string_view name, const Waveform& shape) {
  return {.name = std::string(name), .shape = shape, .most_delay_s = shape.period_s()};
}

Load work(std::string_view name, const Waveform& shape, double idle_w) {
  Load load = periodic(name, shape);
  load.outside = Waveform::noise(idle_w - 3.0, idle_w + 3.0, 0.005, kIdleSeed);
  return load;
}

Load step_inside(double before_w, double after_w, double window_s) {
  return {
      .name = "step inside", .shape = Waveform::step(before_w, after_w), .most_delay_s = window_s};
}

}  // namespace wattle::lab
