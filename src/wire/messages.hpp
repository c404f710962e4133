// What is said in the streaming protocol, as plain values: those of zeusd, whose two generations
// of the stream differ, and a few of our own. encode.hpp writes them as JSON.
//
//   snapshot    (Zeus 0.14 and 0.15)  an event has all devices:  {"power_mw":{"0":75000}}
//   per_device  (Zeus 0.16)           an event has one device:   {"gpu_id":0,"power_mw":75000}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wattle::wire {

/// The generation of a stream. A server must be told which: no event suits both.
enum class StreamFormat : std::uint8_t { per_device, snapshot };

/// What a stream is of.
enum class DeviceType : std::uint8_t { gpu, cpu };

/// Milliseconds since 1970-01-01 UTC.
using UnixMs = std::int64_t;
/// The end of the year 9999: what lies behind it is no time.
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
};

struct CpuEntry {
  DeviceId id = 0;
  bool dram_available = false;
};

/// What is not served, and why.
struct RefusedEntry {
  std::string subject;  ///< "package_0", "NVIDIA GPUs"
  std::string source;   ///< "powercap"
  std::string reason;
  std::string remedy{};
};

/// How a caller without a token may see the energy of CPUs, where that is less than all of it.
struct CpuLimit {
  double period_s = 0;   ///< between two readings
  double quantum_j = 0;  ///< energies are multiples of it
  std::string reason{};
  std::string remedy{};
};

/// GET /discover.
struct Discovery {
  std::vector<GpuEntry> gpus{};
  std::vector<CpuEntry> cpus{};
  std::vector<std::string> enabled_api_groups{};
  bool auth_required = false;
  // Not zeusd's: clients of either generation pass over them.
  StreamFormat stream_format = StreamFormat::per_device;
  std::vector<RefusedEntry> refused{};
  /// What the caller may use of what is on, as it asks now. Absent: unknown.
  std::optional<std::vector<std::string>> granted_scopes{};
  /// Absent: the caller gets all there is, or it is unknown.
  std::optional<CpuLimit> cpu_limit{};
};

struct CpuPower {
  std::uint64_t cpu_mw = 0;
  std::optional<std::uint64_t> dram_mw{};  ///< absent: not available
  friend bool operator==(const CpuPower&, const CpuPower&) = default;
};

struct CpuEnergy {
  std::optional<std::uint64_t> cpu_uj{};   ///< absent: not asked for, or not available
  std::optional<std::uint64_t> dram_uj{};  ///< likewise
  /// Not zeusd's: since when both count without a break. An energy from before does not compare
  /// with one from after: the daemon was started anew, or lost track of a counter. Absent: not
  /// told.
  std::optional<UnixMs> since_ms{};
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

/// Why a power is not known. Not zeusd's: a comment line of a stream, since clients take every
/// event for a value.
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
  std::vector<std::string> scopes;
  std::optional<std::int64_t> expires_unix_s{};
};

}  // namespace wattle::wire
