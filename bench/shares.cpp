// How often the range of a share holds the truth on simulated machines, and how wide it is.
//
//   build/release/bench/shares [TRIALS]     a row for each kind of machine; 10,000 trials by
//   default
//
// Exit status 1 where a range holds the truth in less than 95 % of the trials, where a command that
// is alone with a baseline has a median half-width over 10 %, or where a balance does not close.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "lab/share_world.hpp"
#include "lab/trials_argument.hpp"

namespace wattle::lab {
namespace {

bool print_shares(std::size_t trials) {
  constexpr std::uint64_t kSeed = 26;
  bool is_good = true;
  fmt::print("| machine | inside | median half-width |\n|---|---|---|\n");
  for (const ShareCell& cell : share_cells()) {
    const ShareResult result = simulate_shares(cell, trials, kSeed);
    fmt::print("| {} | {:.1f} % | {:.1f} % |\n", name_of(cell), result.coverage() * 100.0,
               result.median_half_width * 100.0);
    const bool is_sharp = cell.others == 0 && cell.has_baseline;
    is_good = is_good && result.coverage() >= 0.95 && result.closed == result.trials &&
              (!is_sharp || result.median_half_width <= 0.10);
  }
  std::printf("%s\n", is_good ? "all within the targets" : "a target is missed");
  return is_good;
}

}  // namespace
}  // namespace wattle::lab

int main(int argc, char** argv) {
  constexpr std::size_t kTrials = 10'000;
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    return wattle::lab::print_shares(wattle::lab::trials_argument(words, 0, kTrials)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shares: %s\n", error.what());
    return 1;
  }
}
