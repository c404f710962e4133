// A client of the daemon that serves a machine's energy and power: `wattled`, or zeusd. One request
// at a time; power_stream.hpp has the streams. Part of the component stream (`wattle::stream`).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wattle/error.hpp"
#include "wattle/export.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// A daemon cannot be reached, or does not speak the protocol. Threads: a value type.
class WATTLE_EXPORT ConnectionError : public Error {
 public:
  using Error::Error;
  ~ConnectionError() override;
};

/// A daemon requires a token, and was given none or one that it does not accept. Threads: a value
/// type.
class WATTLE_EXPORT AuthError : public Error {
 public:
  using Error::Error;
  ~AuthError() override;
};

/// The default port of a daemon.
inline constexpr std::uint16_t kDaemonPort = 4938;

/// How a server is asked, beside where it listens. Threads: a value type.
struct ServerOptions {
  std::string token{};                               ///< `Server::token`
  std::optional<std::vector<std::uint32_t>> gpus{};  ///< `Server::gpu_indices`
  std::optional<std::vector<std::uint32_t>> cpus{};  ///< `Server::cpu_indices`
  bool proxy = false;                                ///< `Server::uses_proxy`
};

/// Where a daemon listens, and as whom it is asked. Threads: a value type.
struct WATTLE_EXPORT Server {
  /// none: nobody can be asked there; a client refuses it with `InvalidArgument`.
  enum class Transport : std::uint8_t { none, http, https, unix_socket };

  Transport transport = Transport::none;
  /// "host:port", or the path of the socket: the server's name in every answer.
  std::string endpoint{};
  /// Sent as `Authorization: Bearer`; empty: none.
  std::string token{};
  /// Which devices are streamed. Absent: all, silently fewer where there are none or the token does
  /// not permit it. Empty: none. Given: each must exist and be permitted.
  std::optional<std::vector<std::uint32_t>> gpu_indices{};
  std::optional<std::vector<std::uint32_t>> cpu_indices{};
  /// https: a file with the certificates of authorities to trust; empty: those of the system.
  std::string ca_file{};
  /// http, https: asked through the proxy that the environment names (`http_proxy`, `https_proxy`,
  /// `all_proxy`; not for hosts in `no_proxy`). A process with privileges that its user lacks
  /// (`AT_SECURE`) uses none.
  bool uses_proxy = false;

  /// An IPv6 address may stand in brackets or not. Throws `InvalidArgument` for an invalid host,
  /// for a device that is named twice, and for a token that no request can carry. Such a token has
  /// blanks, line ends, or characters other than ASCII (see `ServerOptions`).
  [[nodiscard]] static Server tcp(std::string_view host, std::uint16_t port = kDaemonPort,
                                  ServerOptions options = {});
  [[nodiscard]] static Server tls(std::string_view host, std::uint16_t port = kDaemonPort,
                                  ServerOptions options = {});
  /// Throws `InvalidArgument` for an empty path, or one that no socket can have (over 107 bytes, a
  /// zero byte), and for options as above.
  [[nodiscard]] static Server unix_socket(std::string_view path, ServerOptions options = {});
  /// "host", "host:port", "http://host:port", "https://host:port", "unix:/path", "/path". Without a
  /// port: 80 for http://, 443 for https://, else `kDaemonPort`. Throws `InvalidArgument`, which
  /// names the forms.
  [[nodiscard]] static Server parse(std::string_view text);
  /// The server that `ZEUSD_SOCK_PATH` names, else `ZEUSD_HOST_PORT` (default port: 80, as in
  /// Zeus), with the token in `ZEUSD_TOKEN`. An empty variable counts as not set. Throws
  /// `ConnectionError`, which names the variables, where neither is, and as `parse`. A process with
  /// privileges that its user lacks (`AT_SECURE`) ignores them. Threads: any, while none changes
  /// the environment.
  [[nodiscard]] static Server from_env();
  /// As `from_env`, but `otherwise` where neither is set.
  [[nodiscard]] static Server from_env_or(Server otherwise);
};

/// A GPU that a daemon serves. Threads: a value type.
struct ServedGpu {
  std::uint32_t id = 0;
  std::string name{};
  std::string pci_address{};  ///< "0000:01:00.0"; empty: the daemon does not report it
  std::optional<bool> has_energy_counter{};  ///< absent: the daemon does not report it
  std::string domain{};  ///< "nvidia_gpu_0"; empty: the daemon does not report it (zeusd)
};

/// A CPU that a daemon serves: with zeusd and wattled a top-level zone of powercap, so perhaps one
/// die of a package, or the platform. Threads: a value type.
struct ServedCpu {
  std::uint32_t id = 0;  ///< the number of the zone
  bool has_dram = false;
  /// "package_0", "package_1_die_0", or "psys", the platform, which overlaps all others; empty: the
  /// daemon does not report it (zeusd).
  std::string domain{};
};

/// The power of GPUs at one time, by index. Threads: a value type.
struct GpuPowers {
  double unix_s = 0;  ///< by the daemon's clock
  std::map<std::uint32_t, Watts> power{};
};

/// The power of one CPU package and of its DRAM. Threads: a value type.
struct ServedCpuPower {
  Watts cpu{};
  std::optional<Watts> dram{};  ///< absent: not available
};
/// The power of CPUs at one time, by `ServedCpu::id`. Threads: a value type.
struct CpuPowers {
  double unix_s = 0;  ///< by the daemon's clock
  std::map<std::uint32_t, ServedCpuPower> powers{};
};

/// Counters since the start of the daemon, to a micro-joule; absent: not asked for, or not
/// available. Threads: a value type.
struct ServedCpuEnergy {
  std::optional<Joules> cpu{};
  std::optional<Joules> dram{};
  /// The time since when both count without a break, in seconds since 1970 by the daemon's clock.
  /// If it changes, the daemon was restarted or lost track: energies from before do not compare.
  /// Absent: the daemon does not report it (zeusd).
  std::optional<double> since_unix_s{};
  /// When the counters were read, likewise: with `DaemonClient::cpu_limit` that can be long before
  /// the answer. Absent: the daemon does not report it.
  std::optional<double> read_unix_s{};
};

/// The capabilities that a program needs of a daemon. Threads: a value type.
struct Capabilities {
  bool read_gpu = false;
  bool read_cpu = false;
  bool control_gpu = false;
  std::vector<std::uint32_t> gpu_ids{};  ///< must be served
  std::vector<std::uint32_t> cpu_ids{};
};

/// Asks a daemon, one request at a time, over a connection that it keeps. Each request has
/// `timeout`. A request that fails throws `ConnectionError` (no daemon, no answer in time, or an
/// answer of another protocol). It throws `AuthError` for 401, and `CapabilityError` for 403, or
/// 404 if the group is off. It throws `NoSuchDevice` for an index that is not served, and `Error`
/// for any other refusal, in the daemon's words. Each names the operation and the server.
///
/// One that was moved from has no devices, and its requests throw `InvalidArgument`. Threads: one
/// at a time. After `fork` the child needs one of its own.
class WATTLE_EXPORT DaemonClient {
 public:
  /// Asks what is served and, if a token is required and given, what it permits. A token that is
  /// missing or refused is no error yet: see `auth_error`. Throws `ConnectionError`. Throws
  /// `InvalidArgument` for a server without transport or endpoint, a token that no request can
  /// carry, and a timeout outside (0, 1 h].
  explicit DaemonClient(Server server, std::chrono::milliseconds timeout = std::chrono::seconds(5));
  /// The daemon that the environment names. Throws as `Server::from_env` too.
  DaemonClient();
  DaemonClient(DaemonClient&&) noexcept;
  DaemonClient& operator=(DaemonClient&&) noexcept;
  ~DaemonClient();

  [[nodiscard]] const Server& server() const noexcept;
  /// Served when the client was made, by their indices.
  [[nodiscard]] const std::vector<ServedGpu>& gpus() const noexcept;
  [[nodiscard]] const std::vector<ServedCpu>& cpus() const noexcept;
  [[nodiscard]] bool auth_required() const noexcept;
  /// Why the token does not count; empty: it does, or none is wanted.
  [[nodiscard]] const std::string& auth_error() const noexcept;
  /// "gpu-read", "cpu-read", "gpu-control": what the token permits.
  [[nodiscard]] const std::vector<std::string>& granted_scopes() const noexcept;
  /// Why this client gets CPU energy rounded and rarely, and the remedy. Empty if it gets all of
  /// it, or the daemon does not report why.
  [[nodiscard]] const std::string& cpu_limit() const noexcept;
  /// True if the daemon offers it and no token is needed or this one permits it. False for setting
  /// GPUs through TCP without a token.
  [[nodiscard]] bool can_read_gpu() const noexcept;
  [[nodiscard]] bool can_read_cpu() const noexcept;
  [[nodiscard]] bool can_control_gpu() const noexcept;
  /// Throws `AuthError` where the token does not count, else one `CapabilityError` that names
  /// everything that is missing.
  void require(const Capabilities& needed) const;

  using Ids = std::vector<std::uint32_t>;

  /// Energy since the driver was loaded, to a millijoule. `ids` empty: all.
  [[nodiscard]] std::map<std::uint32_t, Joules> gpu_energy(const Ids& ids = {});
  [[nodiscard]] GpuPowers gpu_power(const Ids& ids = {});
  [[nodiscard]] std::map<std::uint32_t, Watts> power_limit(const Ids& ids = {});
  /// The least and the highest limit that each takes.
  [[nodiscard]] std::map<std::uint32_t, std::pair<Watts, Watts>> power_limit_range(
      const Ids& ids = {});
  [[nodiscard]] std::map<std::uint32_t, bool> persistence_mode(const Ids& ids = {});
  [[nodiscard]] std::map<std::uint32_t, ServedCpuEnergy> cpu_energy(const Ids& ids = {},
                                                                    bool cpu = true,
                                                                    bool dram = true);
  /// The mean over about 0.1 s, for which it waits; over 1 s through a TCP port without a key.
  [[nodiscard]] CpuPowers cpu_power(const Ids& ids = {});
  /// The daemon's clock, in seconds since 1970-01-01 UTC; resolution 1 ms.
  [[nodiscard]] double time();

  /// Settings. `block`: return when all GPUs have the setting, and throw if one failed; else the
  /// daemon answers before it sets them. `ids` must not be empty (`InvalidArgument`).
  /// A limit is rounded to a milliwatt. Throws `InvalidArgument` unless it is from 0 to 4 MW.
  void set_power_limit(const Ids& ids, Watts limit, bool block = true);
  void set_persistence_mode(const Ids& ids, bool enabled, bool block = true);
  void set_gpu_locked_clocks(const Ids& ids, std::uint32_t min_mhz, std::uint32_t max_mhz,
                             bool block = true);
  void reset_gpu_locked_clocks(const Ids& ids, bool block = true);
  void set_memory_locked_clocks(const Ids& ids, std::uint32_t min_mhz, std::uint32_t max_mhz,
                                bool block = true);
  void reset_memory_locked_clocks(const Ids& ids, bool block = true);
  void reset_locked_clocks(const Ids& ids, bool block = true);

 private:
  class Impl;
  [[nodiscard]] Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle
