// The objects that the parts of a stream share.
#pragma once

#include <chrono>
#include <functional>

#include "base/clock.hpp"
#include "client/stream_history.hpp"
#include "client/transport/timers.hpp"
#include "client/transport/transport.hpp"
#include "client/update_hub.hpp"
#include "wire/event.hpp"

namespace wattle::client {

/// Threads: one at a time (the stream's).
struct StreamContext {
  RequestTransport& transport;
  UpdateHub& hub;
  Timers& timers;
  const TimeSource& clock;
  /// From 0 up to 1.
  std::function<double()> chance;
  std::chrono::milliseconds reconnect_delay;
  std::chrono::milliseconds longest_reconnect_delay;
  std::chrono::milliseconds timeout;
  /// Null: energies are not kept.
  StreamHistory* book = nullptr;

  wire::EventParser parser{};
  /// The time, read once for all data that arrived together.
  TimePoint now{};
  double unix_now_s = 0.0;

  void read_clock() noexcept {
    now = clock.now();
    unix_now_s = to_unix(now);
  }
};

}  // namespace wattle::client
