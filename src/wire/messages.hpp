// The messages of the streaming protocol as plain values: zeusd's, in both generations of the
// stream, and a few of our own. message_json.hpp has them as JSON.
//
//   snapshot    (Zeus 0.14 and 0.15)  an event has all devices:  {"power_mw":{"0":75000}}
//   per_device  (Zeus 0.16)           an event has one device:   {"gpu_id":0,"power_mw":75000}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wattle::wire {

/// The generation of a stream. The administrator chooses it: no event suits both.
enum class StreamFormat : std::uint8_t { per_device, snapshot };

/// The kind of the devices of a stream.
enum class DeviceType : std::uint8_t { gpu, cpu };

/// Milliseconds since 1970-01-01 UTC.
using UnixMs = std::int64_t;
/// The end of the year 9999: later times are invalid.
inline constexpr UnixMs kLastUnixMs = 253'402'300'799'999;
/// No machine draws a gigawatt.
inline constexpr std::uint64_t kMostMilliwatts = 1'000'000'000'000;
/// The number of a GPU or a CPU on its server.
using DeviceId = std::uint32_t;

struct GpuEntry {
  DeviceId id = 0;
  std::string name{};
  std::string pci_address{};  ///< "0000:01:00.0"; empty: unknown
  /// Absent: unknown, as from daemons of the older generation.
  std::optional<bool> cumulative_energy_available = false;
  std::string domain{};  ///< not in zeusd: "nvidia_gpu_0", "amd_gpu_1". Empty: unknown.
};

/// A CPU as zeusd numbers them: a top-level zone of powercap, so perhaps a die or the platform.
struct CpuEntry {
  DeviceId id = 0;
  bool dram_available = false;
  /// Not in zeusd: "package_0", "package_1_die_0", "psys". Empty: unknown.
  std::string domain{};
};

/// A device or source that is not served, and why.
struct RefusedEntry {
  std::string subject;  ///< "package_0", "NVIDIA GPUs"
  std::string source;   ///< "powercap"
  std::string reason;
  std::string remedy{};
};

/// The limit on CPU energy for a caller without a token.
struct CpuLimit {
  double period_s = 0;   ///< shortest time between two readings
  double quantum_j = 0;  ///< energies are multiples of it
  std::string reason{};
  std::string effect{};  ///< on clients that do not know of it
  std::string remedy{};
};

/// GET /discover.
struct Discovery {
  std::vector<GpuEntry> gpus{};
  std::vector<CpuEntry> cpus{};
  std::vector<std::string> enabled_api_groups{};
  bool auth_required = false;
  /// Groups that refuse every request, but are in "enabled_api_groups", too: Zeus's GPU classes
  /// want to find gpu-control there before they measure.
  std::vector<std::string> disabled_api_groups{};
  // Not in zeusd: its clients ignore these keys.
  StreamFormat stream_format = StreamFormat::per_device;
  std::vector<RefusedEntry> refused{};
  /// The enabled groups that the caller may use with its token. Absent: unknown.
  std::optional<std::vector<std::string>> granted_scopes{};
  /// Absent: no limit, or unknown.
  std::optional<CpuLimit> cpu_limit{};
};

struct CpuPower {
  std::uint64_t cpu_mw = 0;
  std::optional<std::uint64_t> dram_mw{};  ///< absent: not available
  friend bool operator==(const CpuPower&, const CpuPower&) = default;
};

struct CpuEnergy {
  std::optional<std::uint64_t> cpu_uj{};   ///< absent: not requested, or not available
  std::optional<std::uint64_t> dram_uj{};  ///< likewise
  /// Not in zeusd: the time since when both counters run without a break (a restart of the daemon,
  /// or a lost counter). Energies from before and after a break do not compare. Absent: unknown.
  std::optional<UnixMs> since_ms{};
  /// Not in zeusd: the time at which the counters showed these energies. Absent: unknown.
  std::optional<UnixMs> timestamp_ms{};
  /// Not in zeusd: as in `CpuEntry`.
  std::string domain{};
  friend bool operator==(const CpuEnergy&, const CpuEnergy&) = default;
};

/// The powers of several devices at one time; by id.
template <class Power>
struct PowersAt {
  UnixMs timestamp_ms = 0;
  std::map<DeviceId, Power> powers{};
};
using GpuPowersAt = PowersAt<std::uint64_t>;  ///< mW
using CpuPowersAt = PowersAt<CpuPower>;

/// Why a power is unknown. Not in zeusd: a comment line of a stream, since clients take every event
/// for a value.
struct UnknownPower {
  DeviceType type = DeviceType::gpu;
  DeviceId id = 0;
  bool is_dram = false;  ///< of a CPU's memory, not of the CPU itself
  std::string reason{};
  friend bool operator==(const UnknownPower&, const UnknownPower&) = default;
};

struct PowerLimitRange {
  std::uint64_t min_mw = 0;
  std::uint64_t max_mw = 0;
};

/// GET /auth/whoami.
struct Identity {
  std::string subject;
  std::vector<std::string> scopes{};
  std::optional<std::int64_t> expires_unix_s{};
};

}  // namespace wattle::wire
