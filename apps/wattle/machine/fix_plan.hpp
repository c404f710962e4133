// The commands of `wattle doctor --fix`, from facts about the machine.
#pragma once

#include <string>
#include <vector>

#include "machine/doctor.hpp"

namespace wattle::app {

/// A GPU on the PCI bus.
struct PciGpu {
  std::string address;  ///< "0000:03:00.0"
  std::string vendor;   ///< "0x10de", as sysfs has it
  std::string driver;   ///< "nvidia"; empty: none
};

/// The facts that the commands depend on.
struct FixFacts {
  std::string program{};       ///< the path of wattle
  std::string user{};          ///< who would measure; empty: root, or unknown
  bool is_virtual = false;     ///< a virtual machine
  bool has_event = false;      ///< perf shows energy counters of processors
  bool has_zones = false;      ///< powercap shows energy counters
  bool has_perfmon = false;    ///< Linux 5.8 or later: CAP_PERFMON exists
  bool has_unit = false;       ///< the daemon's units for systemd are installed
  bool has_user = false;       ///< the daemon's user exists
  bool has_nvml = false;       ///< NVIDIA's library can be loaded
  std::vector<PciGpu> gpus{};  ///< in the order of their addresses
};

/// A command for root.
struct FixStep {
  std::vector<std::string> command;
  std::string purpose;  ///< a sentence
  std::string risk;     ///< a sentence
};

struct Fix {
  std::vector<FixStep> steps{};       ///< in the order in which they are to run
  std::vector<std::string> others{};  ///< what may be done instead of them
  std::string obstacle{};             ///< why there are no steps; empty if there are
};

[[nodiscard]] Fix plan_fix(FixTarget target, const FixFacts& facts);

/// The steps as a shell script, in which the purposes and the risks are comments.
[[nodiscard]] std::string script_of(const Fix& fix);

/// The command as a shell takes it.
[[nodiscard]] std::string command_line(const FixStep& step);

}  // namespace wattle::app
