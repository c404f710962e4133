// Phases of a program that `wattle run` measures: a row of the report for each.
#pragma once

#include <string>
#include <string_view>

#include "wattle/export.hpp"

namespace wattle {

/// Starts a phase of the run that this process belongs to; a phase that starts inside another one
/// is a part of it. Phases with the same name and the same parent share a row. `name`: 1 to 255
/// bytes; what follows is cut off. Takes about 50 µs; waits up to 20 ms while `wattle run` is busy.
/// Returns false, and does nothing, outside of a run (`WATTLE_RUN` is not set), or if the run does
/// not take the mark. Logs the reason once. Returns false without a message if `name` is empty. A
/// process with privileges that its user lacks (`AT_SECURE`) ignores `WATTLE_RUN`. Threads: any.
WATTLE_EXPORT bool mark(std::string_view name) noexcept;

/// Ends the phase of that name that started last, or, if `name` is empty, the phase that started
/// last. All phases end with the run. Otherwise as `mark`.
WATTLE_EXPORT bool end_mark(std::string_view name = {}) noexcept;

/// A phase that lasts as long as this object. Threads: a value of one thread.
class Phase {
 public:
  explicit Phase(std::string_view name) : name_(name) { mark(name_); }
  ~Phase() { end_mark(name_); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  std::string name_;
};

}  // namespace wattle
