// Conditions of the machine that make the figures of a benchmark worse.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/fd.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// Observes the machine from its construction on. Threads: one.
class BenchConditions {
 public:
  explicit BenchConditions(const System& system);

  /// Sentences: the governor of CPU frequencies, throttling since the start, another benchmark.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  System system_;
  std::string governor_;            ///< empty: not known
  std::uint64_t throttled_before_;  ///< events of all CPUs
  Fd place_;                        ///< held by one benchmark of the machine at a time
  bool is_alone_ = true;
};

}  // namespace wattle::app
