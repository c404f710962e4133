// Which row of the table of server power a machine belongs to.
#pragma once

#include <string>

#include "estimate/server_power.hpp"
#include "sensors/cpu_info.hpp"

namespace wattle {

struct Microarchitecture {
  std::string title;          ///< "AMD EPYC gen 5 (Turin)", "unknown microarchitecture of Intel"
  std::string recognized_by;  ///< "cpu family 26, model 2"
  /// False where the ranges are those of any microarchitecture.
  bool is_known = false;
  unsigned machines = 0;  ///< that the ranges were made from
  // Factors: see `ServerPower`.
  PowerRange idle{};
  PowerRange full{};
  PowerRange above{};  ///< full less idle of one machine
  PowerRange cores_per_package{};
  bool has_smt = false;
};

/// Several kinds of processors (big and little cores) have the widest of their ranges.
[[nodiscard]] Microarchitecture recognize(const Processors& processors);

}  // namespace wattle
