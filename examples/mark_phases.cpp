// Phases of a program that `wattle run` measures: `wattle run -- ./mark_phases`.
#include <iostream>
#include <wattle/mark.hpp>

namespace {

double add_up(int count) {
  double sum = 0.0;
  for (int i = 1; i <= count; ++i) sum += 1.0 / i;
  return sum;
}

void train() {
  const wattle::Phase phase("train");  // until the end of the block
  std::cout << add_up(4'000'000) << '\n';
}

}  // namespace

int main() {
  // Outside of a run, marks do nothing.
  wattle::mark("load");
  std::cout << add_up(1'000'000) << '\n';
  wattle::end_mark("load");
  train();
}
