// The flags of an energy in texts: their names, as in every report.
#pragma once

#include <string>
#include <string_view>

#include "wattle/energy.hpp"

namespace wattle {

/// The names of the flags, with `between` between them.
[[nodiscard]] inline std::string flags_text(Flags flags, std::string_view between) {
  std::string text;
  flags.each([&](std::string_view name) {
    if (!text.empty()) text += between;
    text += name;
  });
  return text;
}

/// The flags that make an energy doubtful: nothing is lost by a wrap.
[[nodiscard]] constexpr Flags doubts_of(Flags flags) noexcept {
  return Flags::from_bits(flags.bits() & ~Flags::of(Flag::wrapped).bits());
}

/// "50.1 J ±0.2 J, gap": the text of an energy, then what makes it doubtful.
[[nodiscard]] inline std::string with_doubts(std::string text, Flags flags) {
  const std::string doubts = flags_text(doubts_of(flags), ", ");
  if (!doubts.empty() && !text.empty()) text += ", ";
  return text + doubts;
}

}  // namespace wattle
