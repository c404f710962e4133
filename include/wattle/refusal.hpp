// Why something is not measured.
#pragma once

#include <string>

namespace wattle {

/// Something that is not measured, the reason, and what would change that. Threads: a value type.
struct Refusal {
  std::string
      subject;  ///< "package_1", "CPU energy"; of a total one of its kinds: "cpu", "dram", "gpu"
  std::string reason{};  ///< one sentence
  std::string remedy{};  ///< what would change it; empty where nothing would
  std::string
      source{};  ///< who would read it: "powercap", "nvml" ...; empty where that is not known

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace wattle
