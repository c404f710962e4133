// The energy of each CPU and GPU in one phase of a program.
#include <iostream>
#include <wattle/wattle.hpp>

namespace {

double some_work() {
  double sum = 0.0;
  for (int i = 1; i < 20'000'000; ++i) sum += 1.0 / i;
  return sum;
}

void print(const std::string& name, const wattle::MeasuredEnergy& measured) {
  std::cout << name << ": ";
  if (measured.energy) {
    std::cout << measured.energy->si() << " J +-" << measured.uncertainty.si() << '\n';
  } else {
    std::cout << "unknown\n";
  }
}

}  // namespace

int main() {
  try {
    wattle::PowerMonitor monitor({.update_period = std::chrono::milliseconds(50)});
    const wattle::TimePoint start = std::chrono::steady_clock::now();
    const double result = some_work();
    const wattle::TimePoint end = std::chrono::steady_clock::now();
    monitor.stop();  // reads a last time: now the end of the phase is known too

    std::cout << "result " << result << '\n';
    for (const auto& [domain, energy] : monitor.cpu_energy(start, end)) {
      print(domain.name(), energy);
    }
    for (const auto& [gpu, energy] : monitor.energy(start, end)) {
      print("GPU " + std::to_string(gpu), energy);
    }
    print("in all", monitor.total_energy(start, end));
    const auto since =
        monitor.timeline(wattle::PowerDomain::device_instant, 0, wattle::to_unix(start));
    std::cout << since.size() << " GPU with power values since the start\n";
  } catch (const wattle::NoSuchDevice& nothing) {
    std::cout << nothing.what() << '\n';
  }
}
