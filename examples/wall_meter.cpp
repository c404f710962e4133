// A device of your own that reports watts, measured with the domains of the machine.
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

namespace {

/// A real one would ask its meter over the network.
class WallMeter final : public wattle::EnergySource {
 public:
  [[nodiscard]] std::vector<Gauge> gauges() const override { return {{.name = "wall"}}; }
  void read_power(std::span<std::optional<wattle::Watts>> power) noexcept override {
    power[0] = wattle::Watts(42.0);
  }
};

}  // namespace

int main() {
  try {
    wattle::EnergyMeter meter({.sources = {std::make_shared<WallMeter>()},
                               .if_unavailable = wattle::IfUnavailable::ignore});
    meter.start("work");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    meter.stop();
    const wattle::EnergyTrace trace = meter.trace();
    const wattle::MeasuredEnergy& wall = trace["work"].energy("wall");
    if (wall.energy) std::cout << "at the wall: " << *wall.energy << '\n';
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
