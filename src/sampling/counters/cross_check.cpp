#include "sampling/counters/cross_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace wattle {
namespace {

CrossCheck compare(const DomainFigure& preferred, const DomainFigure& other, Seconds apart) {
  const Joules combined(
      std::hypot(preferred.figure.uncertainty.si(), other.figure.uncertainty.si()));
  const Watts power =
      std::max(preferred.figure.mean.value_or(Watts(0.0)), other.figure.mean.value_or(Watts(0.0)));
  return {.domain = preferred.domain,
          .source = preferred.source,
          .other_source = other.source,
          .energy = preferred.figure.measured(),
          .other_energy = other.figure.measured(),
          .tolerance = combined + power * apart};
}

}  // namespace

std::optional<Joules> CrossCheck::difference() const noexcept {
  if (!energy.energy || !other_energy.energy) return std::nullopt;
  return Joules(std::abs((*energy.energy - *other_energy.energy).si()));
}

bool CrossCheck::agrees() const noexcept {
  const std::optional<Joules> apart = difference();
  return apart && *apart <= tolerance;
}

std::vector<CrossCheck> cross_check(const std::vector<std::vector<DomainFigure>>& sources,
                                    Seconds apart) {
  std::map<Domain, const DomainFigure*> preferred;
  std::vector<CrossCheck> checks;
  for (const auto& results : sources) {
    for (const DomainFigure& result : results) {
      const auto [known, is_first] = preferred.try_emplace(result.domain, &result);
      if (!is_first) checks.push_back(compare(*known->second, result, apart));
    }
  }
  std::ranges::stable_sort(checks, {}, &CrossCheck::domain);
  return checks;
}

}  // namespace wattle
