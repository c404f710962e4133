// What the errors of an attribute's file mean.
#pragma once

#include <cerrno>

#include "sensors/sensor.hpp"

namespace wattle {

/// What reading goes on as after such an `errno`. A device that was taken away, or whose driver
/// was, is `gone`; anything else may pass.
[[nodiscard]] constexpr ReadStatus status_of(int error) noexcept {
  switch (error) {
    case ENODEV:  // the file is open but dead
    case ENXIO:
    case ENOENT:
    case EBADF:
    case ESTALE:
      return ReadStatus::gone;
    default:
      return ReadStatus::retry;
  }
}

}  // namespace wattle
