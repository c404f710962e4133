// The energy of two named domains and their total, without the energy of the idle machine.
// It runs without sensors too: then energies are unknown, with a reason.
#include <cmath>
#include <iostream>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

namespace {

double add_up(int terms) {
  double sum = 0.0;
  for (int i = 1; i <= terms; ++i) sum += std::sin(i) / i;
  return sum;
}

void print(const char* what, const wattle::MeasuredEnergy& measured) {
  std::cout << what << ": ";
  if (measured.energy) {
    std::cout << *measured.energy << " +- " << measured.uncertainty << '\n';
  } else {
    std::cout << "unknown\n";
  }
}

}  // namespace

int main() {
  using wattle::Domain;
  try {
    wattle::EnergyMeter meter({Domain::package(0), Domain::nvidia_gpu(0)});
    meter.start("load");
    std::cout << "sum " << add_up(1'000'000) << '\n';
    meter.record("train");
    std::cout << "sum " << add_up(4'000'000) << '\n';
    meter.stop();

    const wattle::EnergyTrace trace = meter.trace();
    print("load", trace["load"].total());
    print("last", trace.back().energy(Domain::nvidia_gpu(0)));

    const auto is_long = [](const wattle::EnergySample& sample) {
      return sample.duration() > std::chrono::microseconds(1);
    };
    const wattle::EnergyTrace net = remove_idle(
        trace, {{"package_0", wattle::Watts(12.5)}, {"nvidia_gpu_0", wattle::Watts(20)}});
    std::cout << clean_data(trace, {is_long}).size() << " samples, net of idle:\n";
    print("train", net["train"].energy("nvidia_gpu_0"));

    // A machine may lack a domain, or all sensors.
    wattle::EnergyMeter patient(
        {.domains = {{Domain::package(7)}}, .if_unavailable = wattle::IfUnavailable::ignore});
    patient.start();
    patient.stop();
    for (const wattle::Refusal& missing : patient.trace().missing()) {
      std::cout << missing.subject << ": " << missing.reason << '\n';
    }
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
