// `wattle stream`: follows daemons until Ctrl-C, with the energy of every device since the start.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "stream/stream_options.hpp"
#include "wattle/clock.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::app {

/// By the endpoints of servers.
using Energies = std::map<std::string, ServerEnergy>;

/// Adds energies that were spent one after the other: what is not known of either part is not known
/// of the sum.
void add(const Energies& more, Energies& sum);

/// A stream remembers for a while only. What is older than half of that is settled: its energy is
/// a number that is added to. Threads: one at a time.
class RunningEnergy {
 public:
  /// `kept`: how long the stream remembers.
  RunningEnergy(const PowerStream& stream, TimePoint begin, std::chrono::seconds kept)
      : stream_(stream), anchor_(begin), settle_after_(kept / 2) {}

  /// From the start to `now`, which never goes back.
  [[nodiscard]] Energies until(TimePoint now);
  /// Half of what the stream remembers has passed since something was settled: `until` is due.
  [[nodiscard]] bool must_settle(TimePoint now) const noexcept {
    return now - anchor_ > settle_after_;
  }

 private:
  const PowerStream& stream_;
  TimePoint anchor_;
  std::chrono::seconds settle_after_;
  Energies settled_{};
};

/// Returns the exit status of the program. Throws `Error` for what nothing can be done about.
int follow(const StreamOptions& options);

}  // namespace wattle::app
