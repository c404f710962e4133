#include "log_queue.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "base/thread.hpp"

namespace wattle::daemon {

/// Shared with the thread, which may be stuck in a write when the queue is gone.
struct LogQueue::State {
  const int fd;
  const LossLine loss_line;
  std::mutex mutex{};
  std::condition_variable wake{};
  std::condition_variable written{};
  std::deque<std::string> lines{};
  std::size_t bytes = 0;  ///< of `lines`, and of the one that is being written
  std::uint64_t lost = 0;
  bool has_thread = false;
  bool is_writing = false;
  bool is_stopping = false;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return is_stopping || !lines.empty(); });
      if (is_stopping) return;
      const std::string line = std::move(lines.front());
      lines.pop_front();
      is_writing = true;
      lock.unlock();
      const bool failed = write_all(fd, line) != 0;
      lock.lock();
      is_writing = false;
      bytes -= line.size();
      if (failed) ++lost;
      if (!failed && lines.empty()) tell_lost();
      if (lines.empty()) written.notify_all();
    }
  }
  /// Locked.
  void add(std::string text) {
    bytes += text.size();
    lines.push_back(std::move(text));
    wake.notify_one();
  }
  /// Locked.
  void tell_lost() {
    if (lost > 0) add(loss_line(std::exchange(lost, 0)));
  }
};

LogQueue::LogQueue(int fd, LossLine loss_line)
    : state_(std::make_shared<State>(fd, std::move(loss_line))) {}

LogQueue::~LogQueue() {
  const std::scoped_lock lock(state_->mutex);
  state_->is_stopping = true;
  state_->wake.notify_one();
}

void LogQueue::push(std::string text) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->bytes + text.size() > kMostBytes) {
    ++state_->lost;
    return;
  }
  if (!state_->has_thread) {
    try {
      start_detached([state = state_] { state->run(); });
    } catch (const std::system_error&) {
      ++state_->lost;  // the next line tries again
      return;
    }
    state_->has_thread = true;
  }
  state_->tell_lost();
  state_->add(std::move(text));
}

bool LogQueue::flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(state_->mutex);
  return state_->written.wait_for(lock, patience,
                                  [&] { return state_->lines.empty() && !state_->is_writing; });
}

}  // namespace wattle::daemon
