// A stream of eight GPUs whose power changes all the time, so that each look at one is an event.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon.hpp"

namespace wattle::integration {

inline constexpr std::size_t kWatchedGpus = 8;
inline constexpr std::size_t kFaultyGpu = 3;

/// For the fake driver. `fault`: what goes wrong with the fourth of them.
[[nodiscard]] std::string eight_gpus(const std::string& fault);

/// When each GPU was looked at, as a stream of all of them tells it.
class WatchedGpus {
 public:
  explicit WatchedGpus(HttpClient client);
  /// Takes one chunk, which may hold several events. False where the daemon has ended.
  [[nodiscard]] bool take();
  void forget();

  /// Of the daemon's clock.
  std::array<std::vector<std::int64_t>, kWatchedGpus> times_ms;
  bool is_stuck = false;  ///< the daemon has said so of the faulty one

 private:
  HttpClient client_;
};

}  // namespace wattle::integration
