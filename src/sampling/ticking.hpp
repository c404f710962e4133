// Something that is done at equal times, in a thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace wattle {

/// Calls `work` every `period`, at absolute deadlines: those that have passed are not made up for.
/// After `fork` the child's copy does nothing. Threads: one at a time.
class Ticking {
 public:
  /// Whether this call is the last one.
  using Work = std::function<void(bool last)>;
  /// `work` must not throw, and owns what it touches: it may be at it when this object is gone.
  /// Throws `Error` where no thread is to be had.
  Ticking(Work work, std::chrono::nanoseconds period);
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;
  /// As `stop`, without patience.
  ~Ticking();

  /// The last call begins now, unless it was stopped before; waits until it has ended, or
  /// `patience` has passed: then false.
  bool stop(std::chrono::nanoseconds patience) noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::uint64_t forks_;  ///< when it was made
};

}  // namespace wattle
