// Who the energy of a GPU goes to, by what its driver reports of its processes. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usage/gpu/gpu_users.hpp"

namespace wattle {

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
