// Tells when somebody has read a file, and whether: tests that change a counter wait for that
// instead of for some time.
#pragma once

#include <filesystem>

#include "base/files/fd.hpp"

namespace wattle::integration {

/// Threads: one at a time.
class ReadWatch {
 public:
  explicit ReadWatch(const std::filesystem::path& file);

  /// Waits until a reader that reads this file again and again, among others in a fixed order, has
  /// been through all of them once since this call. A failure of the test where that does not
  /// happen.
  void wait_for_round();
  /// Since it was asked last.
  [[nodiscard]] bool has_seen_a_read() const;

 private:
  Fd events_;
};

}  // namespace wattle::integration
