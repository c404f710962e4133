// The energy of a section of code, without the energy of the idle machine.
#include <cmath>
#include <iostream>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

int main() {
  try {
    wattle::EnergyMeter meter;
    meter.start("work");
    double sum = 0.0;
    for (int i = 1; i <= 4'000'000; ++i) sum += std::sin(i) / i;
    meter.stop();

    wattle::EnergyTrace trace = meter.trace();
    trace.remove_idle(meter.measure_idle(trace));

    const wattle::EnergySample sample = trace["work"];
    for (const std::string& domain : *sample.domains()) {
      const wattle::MeasuredEnergy& energy = sample.energy(domain);
      std::cout << domain << ": ";
      if (energy.energy) {
        std::cout << energy.energy->si() << " J +-" << energy.uncertainty.si() << '\n';
      } else {
        std::cout << "unknown\n";
      }
    }
    std::cout << "sum " << sum << '\n';
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
