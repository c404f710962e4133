#include "serve/log_queue.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/files/fd.hpp"

namespace wattle::daemon {

/// Shared with the thread, which may be stuck in a write after the queue is destroyed.
struct LogQueue::State {
  const int fd;
  const LossLine loss_line;
  std::mutex mutex{};
  std::condition_variable written{};
  std::size_t bytes = 0;  ///< waiting or being written
  std::uint64_t lost = 0;

  /// Called by the thread.
  void write(std::string text) {
    while (!text.empty()) {
      const bool failed = write_all(fd, text) != 0;
      const std::scoped_lock lock(mutex);
      bytes -= text.size();
      text.clear();
      if (failed) ++lost;
      if (bytes == 0 && lost > 0 && !failed) {
        text = loss_line(std::exchange(lost, 0));
        bytes = text.size();
      }
      if (bytes == 0) written.notify_all();
    }
  }
};

LogQueue::LogQueue(int fd, LossLine loss_line)
    : state_(std::make_shared<State>(fd, std::move(loss_line))) {}

void LogQueue::push(std::string text) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->bytes + text.size() > kMostBytes) {
    ++state_->lost;
    return;
  }
  if (state_->lost > 0 && add(state_->loss_line(state_->lost))) state_->lost = 0;
  if (!add(std::move(text))) ++state_->lost;  // no thread: the next line tries again
}

bool LogQueue::add(std::string text) {
  const std::size_t bytes = text.size();
  const bool is_taken =
      worker_.add([state = state_, text = std::move(text)] { state->write(text); });
  if (is_taken) state_->bytes += bytes;
  return is_taken;
}

bool LogQueue::flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(state_->mutex);
  return state_->written.wait_for(lock, patience, [&] { return state_->bytes == 0; });
}

}  // namespace wattle::daemon
