// Functions that measure each of their calls under their own names, and share their sensors.
#include <cmath>
#include <iostream>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

namespace {

double load(int size) {
  double sum = 0.0;
  for (int i = 1; i <= size; ++i) sum += std::sqrt(i);
  return sum;
}

double train(double seed) { return seed + load(1'000'000); }

}  // namespace

int main() {
  try {
    wattle::TableHandler calls;
    const auto measured_load = wattle::measured<load>(calls);
    const auto measured_train = wattle::measured<train>(calls);
    std::cout << "result " << measured_train(measured_load(100'000)) << '\n';
    for (const std::string& tag : calls.table().tags) std::cout << "measured " << tag << '\n';
    const wattle::EnergyScope scope("report");  // prints at the end of the block
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
