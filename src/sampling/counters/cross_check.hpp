// The same domain read through two interfaces: do they report the same energy?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sampling/domain_figure.hpp"
#include "wattle/domain.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The energies are differences over one window: counters may start anywhere.
struct CrossCheck {
  Domain domain;
  std::string source;        ///< the interface that is preferred
  std::string other_source;  ///< the one it is compared with
  MeasuredEnergy energy;
  MeasuredEnergy other_energy;
  /// How far they may lie apart: the combined uncertainty of the two (k = 2), and what was spent
  /// while one was read and the other not yet.
  Joules tolerance;

  /// How far they lie apart; absent where one of them is not known.
  [[nodiscard]] std::optional<Joules> difference() const noexcept;
  /// False too where one of them is not known.
  [[nodiscard]] bool agrees() const noexcept;
};

/// Compares each domain of the preferred interface with every other interface that shows it.
/// `sources`: what a recorder found for each interface, in the order of preference, over windows
/// whose ends lie no more than `apart` from each other, starts and ends together.
[[nodiscard]] std::vector<CrossCheck> cross_check(
    const std::vector<std::vector<DomainFigure>>& sources, Seconds apart);

}  // namespace wattle
