// Lines on their way to a descriptor whose reader may be slow, stuck or gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/worker.hpp"

namespace wattle::daemon {

/// A thread of its own writes the lines: nobody else ever waits for the reader. Lines that find no
/// room are dropped and counted; the count is the next line once there is room. Threads: any.
class LogQueue {
 public:
  /// Most bytes that wait.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10U;

  /// The text of the line that reports so many lost lines, line end included.
  using LossLine = std::function<std::string(std::uint64_t lost)>;

  /// `fd` outlives the process' last line. `loss_line` is called by one thread at a time. The
  /// destructor does not wait: lines that are still there may be lost.
  LogQueue(int fd, LossLine loss_line);

  /// `text`: whole lines.
  void push(std::string text);
  /// True as soon as everything was written or lost; false where that takes longer than `patience`.
  bool flush(std::chrono::milliseconds patience);

 private:
  struct State;
  /// Locked. False where no thread can be started.
  [[nodiscard]] bool add(std::string text);

  std::shared_ptr<State> state_;
  Worker worker_;
};

}  // namespace wattle::daemon
