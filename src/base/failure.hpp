// The name of a failure, for people.
#pragma once

#include <exception>
#include <new>

namespace wattle {

/// The text of an exception; "out of memory" instead of the name of a class. Valid as long as the
/// exception.
[[nodiscard]] inline const char* failure_text(const std::exception& failure) noexcept {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
  return is_memory ? "out of memory" : failure.what();
}

}  // namespace wattle
