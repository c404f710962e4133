// What waits to be sent to a reader that does not keep up.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>

#include "stream.hpp"

namespace wattle::daemon {

/// The first frame, which may have been sent in part or be encrypted already, and the newest; at
/// most `kMost`. Those between are dropped. Takes no memory while it is empty. Threads: one at a
/// time.
class FrameQueue {
 public:
  static constexpr std::size_t kMost = 64;

  /// False where one had to be dropped.
  bool push(Frame frame) {
    if (!frames_) frames_ = std::make_unique<std::deque<Frame>>();
    const bool is_full = frames_->size() == kMost;
    if (is_full) frames_->erase(frames_->begin() + 1);
    frames_->push_back(std::move(frame));
    return !is_full;
  }
  [[nodiscard]] bool empty() const noexcept { return !frames_; }
  /// What is to be sent next. Not of an empty queue.
  [[nodiscard]] std::string_view next() const noexcept {
    return std::string_view(*frames_->front()).substr(sent_);
  }
  /// So much of it was sent.
  void advance(std::size_t bytes) {
    sent_ += bytes;
    if (sent_ < frames_->front()->size()) return;
    sent_ = 0;
    frames_->pop_front();
    if (frames_->empty()) frames_.reset();
  }

 private:
  std::unique_ptr<std::deque<Frame>> frames_;
  std::size_t sent_ = 0;  ///< of the first
};

}  // namespace wattle::daemon
