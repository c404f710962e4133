#include "shares/measured_steps.hpp"

#include <cmath>

namespace wattle::daemon {

std::optional<EnergyStep> MeasuredSteps::take(const std::string& domain,
                                              std::optional<double> energy_j, TimePoint at) {
  constexpr double kMostJ = 9e12;  // as microjoules in 63 bits
  if (!energy_j || !(*energy_j >= 0.0) || *energy_j > kMostJ) return std::nullopt;
  const auto uj = static_cast<std::uint64_t>(std::llround(*energy_j * 1e6));
  const auto [found, is_new] = known_.try_emplace(domain, LastEnergy{uj, at});
  if (is_new) return std::nullopt;
  EnergyStep step{.length = at - found->second.at};
  if (uj < found->second.uj) {
    step.is_restart = true;
  } else {
    step.uj = uj - found->second.uj;
  }
  found->second = {uj, at};
  return step;
}

}  // namespace wattle::daemon
