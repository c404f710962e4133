// The table of hardware interfaces. A new one is one folder and one line in providers.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle {

/// In the order in which they are preferred for a domain that several of them show.
[[nodiscard]] std::span<const Provider> providers() noexcept;

/// Which providers a survey probes.
enum class Asked : std::uint8_t {
  prompt,  ///< those that answer at once
  all,     ///< those as well whose driver may take up to two seconds
};

/// Each domain is read through one provider; of what is refused, only what matters is told
/// (`worth_telling`).
[[nodiscard]] Survey survey(const System& system, const Clock& clock, Asked asked = Asked::prompt);

/// What each provider offers if asked alone, in the order of `providers`: a domain can be in
/// several of them, and everything that is refused is told.
[[nodiscard]] std::vector<Survey> survey_each(const System& system, const Clock& clock);

}  // namespace wattle
