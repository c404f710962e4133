// Why something is not measured.
#pragma once

#include <iosfwd>
#include <string>

#include "wattle/export.hpp"

namespace wattle {

/// Something that is not measured, the reason, and what would change that. Threads: a value type.
struct Refusal {
  /// "package_1", "CPU energy"; of a total one of its kinds: "cpu", "dram", "gpu".
  std::string subject;
  std::string reason{};  ///< one sentence
  std::string remedy{};  ///< what would change it; empty where nothing would
  /// The provider that would read it: "powercap", "nvml" ...; empty where that is not known.
  std::string source{};

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Prints "package_1: its reason; the remedy".
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const Refusal& refusal);

}  // namespace wattle
