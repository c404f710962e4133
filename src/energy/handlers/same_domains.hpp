// Samples of one table have the same columns.
#pragma once

#include <string>
#include <vector>

#include "base/text/text.hpp"
#include "wattle/energy_trace.hpp"
#include "wattle/error.hpp"

namespace wattle {

/// Throws `InconsistentSamples` where a sample has other domains than `expected`, or in another
/// order.
inline void require_same_domains(const DomainNames& expected, const EnergyTrace& trace) {
  for (const EnergySample& sample : trace) {
    if (sample.domains() == expected || *sample.domains() == *expected) continue;
    throw InconsistentSamples("the sample \"" + printable(sample.tag()) +
                              "\" was measured over other domains than the first sample; "
                              "give each list of domains a handler of its own");
  }
}

}  // namespace wattle
