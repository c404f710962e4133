// The energy of a block and its sections: printed, and written to a CSV file.
//
//   energy_scope [FILE.csv]
#include <cmath>
#include <exception>
#include <iostream>
#include <string>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

namespace {

double add_up(int terms) {
  double sum = 0.0;
  for (int i = 1; i <= terms; ++i) sum += std::sin(i) / i;
  return sum;
}

void measure(const std::string& path) {
  wattle::CsvHandler table(path);
  {
    wattle::EnergyScope scope(table);
    std::cout << "warm: " << add_up(1'000'000) << '\n';
    scope.record("work");  // the section that starts here
    std::cout << "work: " << add_up(4'000'000) << '\n';
  }
  table.save_data();
}

}  // namespace

int main(int argc, char** argv) {
  // Warnings go to the log: to stderr, unless a program sets its own.
  wattle::set_log([](std::string_view message) { std::cerr << "wattle: " << message << '\n'; });
  try {
    wattle::EnergyScope scope;  // prints when the block ends
    measure(argc > 1 ? argv[1] : "energy.csv");
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
