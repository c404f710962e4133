// The CPU time, memory and GPU use of a section of this program.
#include <iostream>
#include <vector>
#include <wattle/error.hpp>
#include <wattle/tracker.hpp>

namespace {

void work() {
  constexpr std::size_t kNumbers = 4'000'000;
  std::vector<double> numbers(kNumbers, 1.0);
  for (std::size_t i = 1; i < numbers.size(); ++i) numbers[i] += numbers[i - 1] / 2.0;
}

}  // namespace

int main() {
  try {
    wattle::Tracker tracker({.sleep_time = std::chrono::milliseconds(500), .time_unit = "seconds"});
    {
      const wattle::TrackerScope scope(tracker);
      work();
    }
    std::cout << tracker.to_text() << '\n';
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
