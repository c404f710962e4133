// A subscriber that keeps its frames.
#pragma once

#include <string>
#include <vector>

#include "http/stream.hpp"

namespace wattle::daemon {

class RecordingSubscriber final : public Subscriber {
 public:
  ~RecordingSubscriber() override { Stream::unsubscribe(*this); }
  void deliver(const Frame& frame) override { frames.push_back(*frame); }
  std::vector<std::string> frames;
};

}  // namespace wattle::daemon
