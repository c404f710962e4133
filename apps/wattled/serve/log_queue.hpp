// A queue of lines for a descriptor whose reader may be slow, stuck or gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/worker.hpp"

namespace wattle::daemon {

/// Its own thread writes the lines, so callers never wait for the reader. Lines without room are
/// dropped and counted; the next line with room reports the count. Thread-safe.
class LogQueue {
 public:
  /// Most bytes in the queue.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10U;

  /// Makes the line that reports `lost` lines, with its line end.
  using LossLine = std::function<std::string(std::uint64_t lost)>;

  /// `fd` must stay open until the last line. One thread at a time calls `loss_line`. The
  /// destructor does not wait: lines in the queue may be lost.
  LogQueue(int fd, LossLine loss_line);

  /// `text`: whole lines.
  void push(std::string text);
  /// Waits until every line is written or lost. False: that takes longer than `patience`.
  bool flush(std::chrono::milliseconds patience);

 private:
  struct State;
  /// With the mutex held. False: no thread can be started.
  [[nodiscard]] bool add(std::string text);

  std::shared_ptr<State> state_;
  Worker worker_;
};

}  // namespace wattle::daemon
