// How energy is commonly measured: the peers that Wattle's numbers stand beside.
#pragma once

#include "lab/estimators.hpp"

namespace wattle::lab {

/// See `common_ways`.
[[nodiscard]] Estimate two_reads(World& world, double length_s);
[[nodiscard]] Estimate trapezoid(World& world, double length_s);
[[nodiscard]] Estimate one_second_polls(World& world, double length_s);

}  // namespace wattle::lab
