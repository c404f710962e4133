// What is said of a measured energy wherever it is printed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wattle/energy.hpp"
#include "wattle/units.hpp"

namespace wattle::app {

/// Over the part of `length` that is known; absent where that is none.
[[nodiscard]] std::optional<Watts> mean_power(const MeasuredEnergy& energy,
                                              Seconds length) noexcept;

/// The names of the flags, with `between` between them.
[[nodiscard]] std::string flags_text(const Flags& flags, std::string_view between);

}  // namespace wattle::app
