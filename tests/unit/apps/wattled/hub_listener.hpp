// Who listens to a stream of power, and keeps what comes.
#pragma once

#include <string>
#include <vector>

#include "stream.hpp"

namespace wattle::daemon {

class HubListener final : public Subscriber {
 public:
  ~HubListener() override { Stream::unsubscribe(*this); }
  void deliver(const Frame& frame) override { frames.push_back(*frame); }
  std::vector<std::string> frames;
};

}  // namespace wattle::daemon
