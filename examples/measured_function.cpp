// Measures each call of a function, and a single call with its result.
#include <iostream>
#include <vector>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

namespace {

long sieve(int limit) {
  std::vector<bool> is_composite(static_cast<std::size_t>(limit) + 1);
  long primes = 0;
  for (std::size_t i = 2; i < is_composite.size(); ++i) {
    if (is_composite[i]) continue;
    ++primes;
    for (std::size_t k = i * i; k < is_composite.size(); k += i) is_composite[k] = true;
  }
  return primes;
}

}  // namespace

int main() {
  try {
    wattle::TableHandler calls;
    const auto measured_sieve = wattle::measured(sieve, calls, {}, "sieve");
    for (const int limit : {100'000, 1'000'000}) {
      std::cout << measured_sieve(limit) << " primes below " << limit << '\n';
    }
    const wattle::EnergyTable table = calls.table();
    for (std::size_t row = 0; row < table.rows(); ++row) {
      std::cout << table.tags[row] << ": " << table.durations[row].count() << " s";
      for (const wattle::EnergyColumn& column : table.domains) {
        std::cout << ", " << column.domain << ' ';
        const auto& energy = column.energies[row];
        if (energy.energy) {
          std::cout << energy.energy->si() << " J +-" << energy.uncertainty.si();
        } else {
          std::cout << "unknown";
        }
      }
      std::cout << '\n';
    }

    const auto once = wattle::measure([] { return sieve(1'000'000); });
    std::cout << once.result << " primes in " << once.sample.duration().count() << " s\n";
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
