// Which group of processes a control group is: a pod, a job, a service. By its path alone.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wattle {

enum class CgroupKind : std::uint8_t {
  pod,        ///< of Kubernetes, by its UID
  container,  ///< by the first 12 digits of its number, or by its name
  slurm_job,  ///< by its number
  service,    ///< of systemd: "nginx.service"
  scope,      ///< of systemd: "init.scope"
  user,       ///< all sessions and services of a user, by the UID
  cgroup,     ///< any other, by its path
};

/// "pod", "slurm_job".
[[nodiscard]] std::string_view name_of(CgroupKind kind) noexcept;

struct CgroupGroup {
  CgroupKind kind = CgroupKind::cgroup;
  std::string name{};  ///< printable, at most 200 bytes and "..."
  [[nodiscard]] auto operator<=>(const CgroupGroup&) const = default;
};

/// A group, and whether the path goes on below its control group.
struct CgroupPlace {
  CgroupGroup group;
  bool is_below = false;
};

/// The group of the control group with that path, in version 1 or 2: "/a.slice/b.service", as
/// /proc/PID/cgroup has it. Groups do not overlap: the outermost one counts. So a container in a
/// pod, or of a user, is a part of that. Absent for folders that hold groups (slices, "/docker"):
/// what runs in them directly is in no group.
[[nodiscard]] std::optional<CgroupPlace> group_of_cgroup(std::string_view path);

/// The 64 hexadecimal digits of a container that Docker, containerd, CRI-O and Podman put into a
/// path; empty where there is none.
[[nodiscard]] std::string_view container_number_in(std::string_view path) noexcept;
/// The UID that the kubelet puts after "pod", as it stands there, with "-", "_" or neither (pods
/// that a node's files define); empty where there is none.
[[nodiscard]] std::string_view pod_uid_in(std::string_view path) noexcept;

}  // namespace wattle
