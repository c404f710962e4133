// Times in the wire protocol.
#pragma once

#include <cmath>

#include "wattle/clock.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

[[nodiscard]] inline wire::UnixMs unix_ms(TimePoint time) noexcept {
  return static_cast<wire::UnixMs>(std::floor(to_unix(time) * 1e3));
}

}  // namespace wattle::daemon
