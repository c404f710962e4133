// Of everything that all providers refused, what a person should hear.
#pragma once

#include <set>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle {

/// Leaves out of `refused`, which is in the order of the providers:
///
/// - a domain that is in `read`: it is measured, through another interface;
/// - a domain that is refused already: one cause that has a remedy is enough;
/// - an interface that shows nothing, where another one shows the same devices, read or refused;
/// - spare ways, where there is anything else to say about their devices.
[[nodiscard]] std::vector<Refusal> worth_telling(std::vector<Refusal> refused,
                                                 const std::set<Domain>& read);

}  // namespace wattle
