// The frames that wait for a slow reader.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>

#include "http/stream.hpp"

namespace wattle::daemon {

/// At most `kMost` frames: the first, which may be partly sent or already encrypted, and the
/// newest. The frames between them are dropped. Uses no memory while empty. Not thread-safe.
class FrameQueue {
 public:
  static constexpr std::size_t kMost = 64;

  /// False: a frame was dropped.
  bool push(Frame frame) {
    if (!frames_) frames_ = std::make_unique<std::deque<Frame>>();
    const bool is_full = frames_->size() == kMost;
    if (is_full) frames_->erase(frames_->begin() + 1);
    frames_->push_back(std::move(frame));
    return !is_full;
  }
  [[nodiscard]] bool empty() const noexcept { return !frames_; }
  /// The rest of the first frame. Requires a non-empty queue.
  [[nodiscard]] std::string_view next() const noexcept {
    return std::string_view(*frames_->front()).substr(sent_);
  }
  /// Removes `bytes` that were sent from the first frame.
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
