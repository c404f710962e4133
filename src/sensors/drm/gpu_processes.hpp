// Which processes have a GPU open, by /proc/PID/fd, and what they use of it, by /proc/PID/fdinfo.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sensors/sensor.hpp"

namespace wattle::drm {

/// Descriptor `fd` of process `pid` is open on /dev/dri/`node`.
struct OpenNode {
  pid_t pid;
  int fd;
  std::string node;
};

/// Every open GPU of every process that this one may look into, by process. What it reads are
/// links, which never wait for a driver, so all GPUs of a machine share it. Threads: any.
class OpenGpuFiles {
 public:
  explicit OpenGpuFiles(std::filesystem::path procfs) : procfs_(std::move(procfs)) {}

  /// Lists again if the last list is more than half a second old. Null where procfs cannot be
  /// listed, or there are more descriptors than it reads.
  [[nodiscard]] std::shared_ptr<const std::vector<OpenNode>> list(TimePoint now);
  [[nodiscard]] const std::filesystem::path& procfs() const noexcept { return procfs_; }

 private:
  const std::filesystem::path procfs_;
  std::mutex mutex_;
  TimePoint listed_at_ = TimePoint::min();
  std::shared_ptr<const std::vector<OpenNode>> nodes_;
};

/// The processes among `open` that use the GPU at `pci_address`, whose files under /dev/dri are
/// `nodes`. Each client counts once: what several processes share is the first one's, by number.
/// Asks the GPU's driver, which may block.
[[nodiscard]] std::vector<DeviceProcess> users_of(std::span<const OpenNode> open,
                                                  std::span<const std::string> nodes,
                                                  std::string_view pci_address,
                                                  const std::filesystem::path& procfs);

}  // namespace wattle::drm
