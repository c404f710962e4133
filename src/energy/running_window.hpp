// Whether windows of several threads overlap.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace wattle::detail {

/// A window of a meter, while it goes on. The first time that windows of two threads overlap, that
/// is reported to the log, once in this process: each of them has the energy of the whole machine,
/// so they are no shares of it. Windows of one thread may lie in each other. Threads: one at a
/// time.
class RunningWindow {
 public:
  RunningWindow() noexcept = default;
  RunningWindow(const RunningWindow&) = delete;
  RunningWindow& operator=(const RunningWindow&) = delete;
  ~RunningWindow() { end(); }

  void start() noexcept;
  /// By any thread; a second time it does nothing.
  void end() noexcept;

  /// How many of a thread's windows go on.
  using OfThread = std::atomic<int>;

 private:
  std::shared_ptr<OfThread> thread_;  ///< that started it; null: it does not go on
  std::uint64_t forks_ = 0;
};

}  // namespace wattle::detail
