// The text output of `wattle doctor`.
#pragma once

#include <string>
#include <vector>

#include "base/text/text_style.hpp"
#include "sensors/refusals.hpp"
#include "wattle/domain.hpp"

namespace wattle::app {

struct Diagnosis {
  std::vector<Domain> readable{};     ///< domains whose energy is measured
  std::vector<SharedCause> causes{};  ///< why others are not
  bool cpu_can_be_fixed = false;      ///< `doctor --fix cpu` has commands
  bool gpu_can_be_fixed = false;
};

/// The names of the domains that are of these kinds.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Domain>& domains,
                                                DomainKinds kinds = DomainKinds::all());

/// A line for each thing that is measured or not, with what to do.
[[nodiscard]] std::string short_text(const Diagnosis& found, const TextStyle& style);

/// Each cause with its proof, remedy and risk.
[[nodiscard]] std::string verbose_text(const Diagnosis& found, const TextStyle& style);

}  // namespace wattle::app
