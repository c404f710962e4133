// The daemon's command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "auth/token.hpp"
#include "devices/inventory.hpp"
#include "http/listening.hpp"
#include "serve/service.hpp"
#include "shares/shared_energy.hpp"
#include "telemetry/telemetry.hpp"
#include "wattle/system.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

struct ServeOptions : OfferOptions {
  bool serves_file = true;  ///< at a Unix socket
  bool serves_tcp = false;
  bool allows_plain_http = false;
  bool keeps_settings = false;  ///< GPU settings stay when the daemon ends
  GpuBackend gpu_backend = GpuBackend::all;
  wire::StreamFormat stream_format = wire::StreamFormat::per_device;
  SocketFileOptions socket{.path = "/run/wattled/wattled.sock"};
  std::string
      socket_group;  ///< whose members may connect; empty: the default group, if there is one
  TcpAddress tcp{.host = "127.0.0.1", .port = 4938};
  std::string tls_certificate;  ///< empty: no encryption
  std::string tls_key;
  std::string tls_client_authorities;     ///< empty: clients need no certificate
  std::optional<SharesOptions> shares{};  ///< absent: energy is not divided
  std::uint32_t gpu_hz = 20;
  std::uint32_t cpu_hz = 10;
  /// The length of the energy history; 0: none.
  std::chrono::seconds history{0};
  std::string history_dir;                      ///< of the history on disk; empty: in memory alone
  std::uint32_t history_size_mib = 512;         ///< the most that it takes there
  std::optional<TelemetryOptions> telemetry{};  ///< absent: nothing is pushed
  /// The file from which GPU settings are restored. It is in /run since drivers, too, lose their
  /// settings when the machine restarts.
  std::string journal_path = "/run/wattled-settings/gpus";
  std::string overrides_path;  ///< of commands that set GPUs; empty: drivers do
  std::string key_path;        ///< empty: no tokens
  std::string revoked_path;    ///< empty: no token is revoked
  std::string user;            ///< who root becomes; empty: wattled, if there is one
  System system{};
  std::size_t most_connections = 4096;
  std::size_t most_per_client = 0;  ///< connections of one address of TCP; 0: a quarter of all
  std::size_t most_per_token = 0;   ///< streams of one token; 0: a quarter of all connections
  /// One line for each option that other options make ineffective.
  std::vector<std::string> without_effect;
};

struct TokenOptions {
  std::string key_path;
  std::string user;
  std::vector<TokenScope> scopes;
  std::string audience;                    ///< empty: for every server with the key
  std::optional<std::int64_t> lifetime_s;  ///< absent: for ever
};

/// A text to print, and the exit status: help, version, or a usage error.
struct TextAnswer {
  std::string text;
  bool is_error = false;
  int exit_status = 0;
};
inline constexpr int kUsageError = 64;
inline constexpr int kFailed = 1;

using Options = std::variant<ServeOptions, TokenOptions, TextAnswer>;
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

}  // namespace wattle::daemon
