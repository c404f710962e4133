// Options that all classes share: where Wattle reads from, which GPUs, and how a machine without
// sensors is treated. Every path and library name from outside enters here, so that tests need no
// privileges and a container can be given the host's trees.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/export.hpp"

namespace wattle {

/// Where Wattle searches for sensors. A root or a library that does not exist is no error:
/// its sensors are refused with that reason. Threads: a value type.
struct WATTLE_EXPORT System {
  /// Mount point of sysfs.
  std::filesystem::path sysfs = "/sys";
  /// Mount point of procfs.
  std::filesystem::path procfs = "/proc";
  /// NVIDIA's management library (NVML): a path, or a name that the dynamic linker searches for.
  std::string nvml_library = "libnvidia-ml.so.1";
  /// The Unix socket of a daemon on this machine (wattled or zeusd). It provides the energy of CPUs
  /// that this process may not read itself. Empty: none is asked.
  std::filesystem::path daemon_socket = "/run/wattled/wattled.sock";
  /// Shown to that daemon, should it want a token; empty: none. Never part of a message.
  std::string daemon_token{};

  /// The defaults, overridden by `WATTLE_SYSFS`, `WATTLE_PROCFS`, `WATTLE_NVML_LIBRARY`,
  /// `WATTLE_SOCK_PATH` (else `ZEUSD_SOCK_PATH`; `none` for no daemon) and `WATTLE_TOKEN` (else
  /// `ZEUSD_TOKEN`) where these are set and not empty. A process that runs with privileges its user
  /// lacks (setuid, file capabilities: `AT_SECURE`) ignores them. Threads: any, while none changes
  /// the environment.
  [[nodiscard]] static System from_environment();

  friend bool operator==(const System&, const System&) = default;
};

/// How a constructor treats a domain or device that cannot be read.
enum class IfUnavailable : std::uint8_t {
  fail,    ///< it throws
  ignore,  ///< it does not throw: such energies are unknown, with the reason
};

/// Which GPUs are measured. Threads: a value type.
class WATTLE_EXPORT GpuSelection {
 public:
  /// All of them.
  GpuSelection() = default;
  // NOLINTBEGIN(google-explicit-constructor): a list of numbers is a selection
  /// By number: the driver's for NVIDIA GPUs. Those of other vendors follow after the last of
  /// these, AMD before Intel, each in the order of its domains. Throws `InvalidArgument` for an
  /// empty list, and for a number that occurs twice.
  GpuSelection(std::vector<std::uint32_t> numbers);
  GpuSelection(std::initializer_list<std::uint32_t> numbers)
      : GpuSelection(std::vector<std::uint32_t>(numbers)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] static GpuSelection all() noexcept { return {}; }
  /// None. Where the selected GPUs alone are read, no driver of a GPU is called.
  [[nodiscard]] static GpuSelection none() noexcept { return GpuSelection(Kind::none); }
  /// The GPUs that this process's environment makes visible, at the time of the search:
  /// `CUDA_VISIBLE_DEVICES` (NVIDIA), `ROCR_VISIBLE_DEVICES` and `HIP_VISIBLE_DEVICES` (AMD). All
  /// if none of them is set. If a vendor's variable is set and another's is not, the other's GPUs
  /// are left out. Numbers in a variable are accepted if the order of the GPUs cannot differ. So it
  /// is with `CUDA_DEVICE_ORDER=PCI_BUS_ID`, one GPU, GPUs of one model, or a list of all of them.
  /// Otherwise they are `InvalidArgument`, as is a part of a GPU (MIG).
  [[nodiscard]] static GpuSelection visible() noexcept { return GpuSelection(Kind::visible); }
  /// By name: a domain ("amd_gpu_0"), its number where one vendor alone has that, a UUID or the
  /// start of one, a PCI address. Throws `InvalidArgument` for an empty list or name.
  [[nodiscard]] static GpuSelection named(std::vector<std::string> names);
  /// "all", "none", "visible", or names with commas between. Throws `InvalidArgument`.
  [[nodiscard]] static GpuSelection parse(std::string_view text);

  [[nodiscard]] bool is_all() const noexcept { return kind_ == Kind::all; }
  [[nodiscard]] bool is_none() const noexcept { return kind_ == Kind::none; }
  [[nodiscard]] bool is_visible() const noexcept { return kind_ == Kind::visible; }
  /// Empty unless they were given.
  [[nodiscard]] const std::vector<std::uint32_t>& numbers() const noexcept { return numbers_; }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  friend bool operator==(const GpuSelection&, const GpuSelection&) = default;

 private:
  enum class Kind : std::uint8_t { all, none, visible, listed };
  explicit GpuSelection(Kind kind) noexcept : kind_(kind) {}

  Kind kind_ = Kind::all;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace wattle
