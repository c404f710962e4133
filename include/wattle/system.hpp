// Where Wattle reads from: every path and library name from outside enters here, so that tests need
// no privileges and a container can be given the host's trees.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "wattle/export.hpp"

namespace wattle {

/// The places that sensors are looked for in. A root or a library that does not exist is no error:
/// its sensors are refused with that reason. Threads: a value type.
struct WATTLE_EXPORT System {
  /// Mount point of sysfs.
  std::filesystem::path sysfs = "/sys";
  /// Mount point of procfs.
  std::filesystem::path procfs = "/proc";
  /// NVIDIA's management library (NVML): a path, or a name that the dynamic linker searches for.
  std::string nvml_library = "libnvidia-ml.so.1";
  /// The Unix socket of a daemon on this machine (wattled, or zeusd), which is asked for the energy
  /// of CPUs where this process may not read it itself. Empty: none is asked.
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

/// What a constructor does where what it should measure cannot be read.
enum class IfUnavailable : std::uint8_t {
  fail,    ///< it throws
  ignore,  ///< it does not throw: what cannot be read is unknown, with the reason
};

}  // namespace wattle
