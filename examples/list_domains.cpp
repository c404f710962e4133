// Prints what Wattle can measure on this machine, and which domains a total is made of.
#include <iostream>
#include <wattle/wattle.hpp>

int main() {
  std::cout << "wattle " << wattle::version() << '\n';
  const auto domains = wattle::available_domains();
  if (domains.empty()) {
    std::cout << "nothing can be measured here: `wattle doctor` says why\n";
  }
  for (const wattle::Domain& domain : domains) {
    const char* remark = wattle::counts_in_total(domain.kind()) ? "" : "  (not part of a total)";
    std::cout << domain.name() << remark << '\n';
  }
}
