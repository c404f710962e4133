// What a mark costs the program that makes it: `wattle run -q -- mark_bench`.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

#include "wattle/mark.hpp"

int main() try {
  using Clock = std::chrono::steady_clock;
  constexpr int kMarks = 5000;
  std::vector<double> begin_us;
  int lost = 0;  // a machine without a free CPU core does not empty the queue in time
  for (int i = 0; i < kMarks; ++i) {
    const auto before = Clock::now();
    const bool is_taken = wattle::mark("phase");
    const auto after = Clock::now();
    if (!is_taken && i == 0) {
      fmt::print(stderr, "no run takes marks: wattle run -q -- mark_bench\n");
      return 1;
    }
    if (!is_taken) ++lost;
    begin_us.push_back(std::chrono::duration<double, std::micro>(after - before).count());
    wattle::end_mark("phase");
    // As a program that does something: the queue is empty when the next one comes.
    const auto next = after + std::chrono::microseconds(200);
    while (Clock::now() < next) {
    }
  }
  std::ranges::sort(begin_us);
  fmt::print("a mark: median {:.1f} us, 99 % {:.1f} us; {} of {} not taken\n", begin_us[kMarks / 2],
             begin_us[kMarks * 99 / 100], lost, kMarks);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "mark_bench: %s\n", error.what());
  return 1;
}
