// Who uses a GPU, and how much of it, by the lists of its driver, and who its energy goes to. Pure.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

/// The known values of a GPU in a period.
struct GpuLoad {
  const std::optional<std::vector<GpuUser>>& users;  ///< absent: not known
  std::string_view users_unknown{};  ///< why its users are not known, or not all of them; else ""
  std::optional<double> utilization_percent{};
};

/// The group of a process, by its place in some list; absent: the process is not seen.
using GroupOfProcess = std::function<std::optional<std::size_t>(const GpuUser&)>;

struct GpuPart {
  std::optional<std::size_t> group{};  ///< absent: of processes that are not seen
  double part = 0.0;                   ///< 0 to 1
};
/// The parts add up to 1. Neither parts nor a reason: nobody used it.
struct GpuParts {
  std::vector<GpuPart> parts{};
  std::string unknown{};  ///< why it is not known who used how much; else empty
};

/// A group that alone used the GPU has all of its energy, idle power too. Several have it by the
/// time that it worked for each. docs/estimates.md describes the rules. `has_mps`: one of the users
/// is a server of NVIDIA's Multi-Process Service.
[[nodiscard]] GpuParts divide_gpu(const GpuLoad& load, const GroupOfProcess& group_of,
                                  bool has_mps);

/// Why energy is nobody's: the process that used the GPU cannot be seen.
inline constexpr std::string_view kUserNotSeen = "a process that is not seen here uses it";

/// The command of a server of NVIDIA's Multi-Process Service. The kernel shows 15 letters of it.
inline constexpr std::string_view kMpsServer = "nvidia-cuda-mps";

}  // namespace wattle
