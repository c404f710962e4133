// Many clients that set GPUs while others read them, and what they are owed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon.hpp"

namespace wattle::integration {

/// A power limit that a client asked for.
struct AskedSetting {
  std::uint32_t gpu = 0;
  std::uint32_t limit_mw = 0;
  int status = 0;
  std::string refusal{};  ///< the head and the body of an answer other than 200
  std::chrono::steady_clock::time_point sent{};
  std::chrono::steady_clock::time_point answered{};
};

struct FloodOptions {
  std::uint32_t gpus = 8;
  std::size_t settings = 100'000;
  std::size_t setters = 64;  ///< connections, each with several requests on the way
  std::size_t readers = 64;  ///< connections, each with one
};

struct FloodResult {
  std::vector<AskedSetting> settings;
  std::size_t reads = 0;
  std::size_t failed_reads = 0;
  std::chrono::nanoseconds longest_read{};
};

/// Each setting has another limit. `connect` makes a connection; it is called by several threads.
[[nodiscard]] FloodResult flood(const FloodOptions& options,
                                const std::function<HttpClient()>& connect);

/// What is wrong: an accepted setting that was neither made nor superseded by a later one. `made`:
/// the lines of the fake driver ("0 power_limit 150000").
[[nodiscard]] std::vector<std::string> lost_settings(const std::vector<AskedSetting>& asked,
                                                     const std::string& made);

/// GPUs for a fake driver, with a power limit of 300 W that may be set from 100 W on.
[[nodiscard]] std::string gpus_to_flood(std::uint32_t count);

}  // namespace wattle::integration
