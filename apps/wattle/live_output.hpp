// Lines on stdout for whoever follows a program as it runs.
#pragma once

#include <string_view>

#include "base/fd.hpp"

namespace wattle::app {

/// A reader that does not read holds nobody up: what it has no room for is left out.
/// Threads: one at a time.
class LiveOutput {
 public:
  /// Throws `InvalidArgument` where stdout is closed.
  LiveOutput();

  /// False where it was left out, since nobody took what was written before. Throws `WriteError`,
  /// but not for a reader that is gone: then `is_over`.
  bool put(std::string_view text);
  /// Nobody reads any more.
  [[nodiscard]] bool is_over() const noexcept { return over_; }
  /// What could not be written until now (a disk that is full): throws `WriteError`.
  void close();

 private:
  Fd fd_;
  bool over_ = false;
};

}  // namespace wattle::app
