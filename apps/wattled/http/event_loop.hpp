// The loop of a real daemon.
#pragma once

#include "http/loop.hpp"

namespace wattle::daemon {

/// Threads: one thread calls `run` and is the loop's; the result of `poster` is for any thread.
class EventLoop final : public Loop {
 public:
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop() override;

  [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override;
  [[nodiscard]] std::unique_ptr<Watch> watch(int fd, Work fail) override;
  [[nodiscard]] Poster poster() override;

  /// Calls `work` for every arrival of the signal, also for one that is pending. Call it before a
  /// thread starts that does not block the signal. Throws `Error` if the kernel refuses.
  void on_signal(int signal, const Work& work);
  /// Runs until `stop`.
  void run();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle::daemon
