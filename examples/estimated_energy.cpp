// The energy of a section of code; where no sensor covers the CPU, a range of the machine's energy.
#include <cmath>
#include <iostream>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>
#include <wattle/estimate.hpp>

int main() {
  try {
    const wattle::Domain package = wattle::Domain::package(0);
    wattle::EnergyMeter meter(
        {.domains = {{package}}, .if_unavailable = wattle::IfUnavailable::ignore});
    wattle::EnergyEstimator estimator;
    meter.start("work");
    estimator.start();
    double sum = 0.0;
    for (int i = 1; i <= 8'000'000; ++i) sum += std::sin(i) / i;
    estimator.stop();
    meter.stop();

    if (const auto measured = meter.trace()["work"].energy(package).energy) {
      std::cout << "measured: " << *measured << '\n';
    } else if (const wattle::EnergyEstimate estimate = estimator.estimate(); estimate.machine) {
      std::cout << "not measured, but between " << estimate.machine->low << " and "
                << estimate.machine->high << " of " << estimate.covers << '\n';
    } else {
      std::cout << "unknown: " << estimate.unknown << '\n';
    }
    std::cout << "sum " << sum << '\n';
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
