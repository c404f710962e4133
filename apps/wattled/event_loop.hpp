// The loop of a real daemon.
#pragma once

#include "loop.hpp"

namespace wattle::daemon {

/// Threads: `run` by one, which is the loop's; what `poster` gives any.
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

  /// Calls `work` each time that the signal comes. One that came while it was blocked counts too.
  /// To be called before there are threads that do not block it. Throws `Error` where the kernel
  /// does not let it wait.
  void on_signal(int signal, const Work& work);
  /// Until `stop`.
  void run();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle::daemon
