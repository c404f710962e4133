// The power of a machine at the wall, from its size and the table of servers.
#pragma once

#include "estimate/machine_size.hpp"
#include "estimate/microarchitecture.hpp"

namespace wattle {

/// Watts per hardware thread or vCPU.
struct MachinePower {
  PowerRange idle;
  PowerRange full;
  PowerRange above;  ///< full less idle of one machine
};

/// Memory beyond 1 GB a core, more than published servers have, is added. The highest power is that
/// of vector code. Of a part of a machine (a virtual machine, or where the number of packages is
/// not known) the size of the whole is what servers of the microarchitecture have, and the ranges
/// of both are combined in quadrature.
[[nodiscard]] MachinePower machine_power(const Microarchitecture& machine,
                                         const MachineSize& size) noexcept;

}  // namespace wattle
