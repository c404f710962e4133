// Energies as handlers give them out: numbers of micro-joules, as pyJoules does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "wattle/energy.hpp"
#include "wattle/energy_trace.hpp"
#include "wattle/export.hpp"
#include "wattle/handlers.hpp"

namespace wattle {

/// An energy in micro-joules: nothing where it is unknown (or no finite number), an integer for
/// an NVIDIA GPU, a float for all else.
using MicroJoules = std::variant<std::monostate, double, std::int64_t>;

/// `domain`: "package_0"; a name that starts with "nvidia_gpu_" is an NVIDIA GPU's. Rounded to
/// a thousandth of a micro-joule, far below any counter's tick: 0.123456 J are 123456.0, not
/// 123455.99999999999. Exported for the component wattle::mongodb.
[[nodiscard]] WATTLE_EXPORT MicroJoules micro_joules(std::string_view domain,
                                                     const MeasuredEnergy& measured) noexcept;

/// The energy of the sample's domain number `index`. Absent for a lower bound unless `details` are
/// written beside it, since the formats cannot mark it otherwise. Exported for the component
/// wattle::mongodb.
[[nodiscard]] WATTLE_EXPORT MicroJoules micro_joules(const EnergySample& sample, std::size_t index,
                                                     SampleDetails details);
/// The uncertainty to two digits; nothing where the energy is unknown. Exported likewise.
[[nodiscard]] WATTLE_EXPORT MicroJoules uncertainty_micro_joules(const MeasuredEnergy& measured);

/// Adds a number as Python's repr of it, and `unknown` for nothing.
void append_micro_joules(std::string& out, const MicroJoules& value, std::string_view unknown);

}  // namespace wattle
