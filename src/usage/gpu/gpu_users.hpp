// Who uses a GPU, and how much of it, by the lists of its driver. Pure.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sampling/lane.hpp"

namespace wattle {

/// A process on a GPU, as the GPU's driver reports it.
struct GpuUser {
  pid_t pid = 0;
  std::optional<std::uint64_t> memory_bytes{};
  /// The part of the GPU's working time in the period, 0 to 1; absent if unknown.
  std::optional<double> part{};
};

/// The users of one GPU. Threads: one at a time.
class GpuUsers {
 public:
  /// A list that is older than this no longer says who uses the GPU.
  static constexpr std::chrono::seconds kLongest{10};

  /// The users by the newest `list`, which may be the one of the last call: then they are the same
  /// as then. Absent before the first list, and where the driver does not list them.
  [[nodiscard]] const std::optional<std::vector<GpuUser>>& take(
      const std::optional<ProcessList>& list, TimePoint now);

 private:
  [[nodiscard]] std::vector<GpuUser> users_of(const std::vector<DeviceProcess>& processes);

  std::uint64_t number_ = 0;  ///< of the newest list
  /// The use of the processes of the newest list; absent before the first.
  std::optional<std::map<pid_t, std::chrono::nanoseconds>> times_{};
  std::optional<std::vector<GpuUser>> users_{};
};

}  // namespace wattle
