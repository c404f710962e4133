#include "serve/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/version.hpp"
#include "devices/energy_history.hpp"
#include "serve/feature_options.hpp"
#include "serve/lifetime.hpp"
#include "serve/option_values.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

/// No sensor updates more often.
constexpr std::uint32_t kHighestHz = 1000;

constexpr const char* kServeFooter = R"(
Serves the power and energy of this machine's CPUs and GPUs over HTTP, in the protocol of zeusd.
Devices that cannot be read are left out; /discover has the reasons. The log goes to stderr.
SIGTERM stops the daemon; SIGHUP makes it read the signing key, the revoked tokens and the
certificate again.

Without a key, every user who may open the socket may read everything. TCP then serves only this
machine, and shows CPU energy in whole joules once a second (see --public-cpu-period).
Any other address needs a key.
)";

/// The values of the options before they are checked.
struct Raw {
  std::string mode = "uds";
  std::string permissions = "660";
  std::string tcp = "127.0.0.1:4938";
  std::string enable = "gpu-read,cpu-read";
  std::string compat_metrics;
  RawPageOptions pages;
  RawShareOptions shares;
  RawOtlpOptions otlp;
  std::string stream_format = "per-device";
  std::string gpu_backend = "auto";
  std::string public_cpu_period = "1";
  std::uint32_t history_s = 0;
  std::uint32_t workers = 1;
  std::string sysfs;
  std::string procfs;
  std::string nvml_library;
  std::string scope;
  std::string expires;
  ServeOptions serve;
  TokenOptions token;
};

enum class ListenMode : std::uint8_t { file, tcp };

constexpr WordTable<ListenMode, 2> kModes = {{{"uds", ListenMode::file}, {"tcp", ListenMode::tcp}}};
constexpr WordTable<wire::StreamFormat, 2> kStreamFormats = {
    {{"per-device", wire::StreamFormat::per_device}, {"snapshot", wire::StreamFormat::snapshot}}};
constexpr WordTable<Exporter, 4> kExporters = {{{"dcgm", Exporter::dcgm},
                                                {"node", Exporter::node},
                                                {"kepler", Exporter::kepler},
                                                {"zeus", Exporter::zeus}}};
constexpr WordTable<GpuBackend, 3> kBackends = {
    {{"auto", GpuBackend::all}, {"nvml", GpuBackend::nvidia}, {"amdsmi", GpuBackend::amd}}};

/// Removes duplicates from a list.
template <class Value, std::size_t kSize>
std::vector<Value> all_chosen(std::string_view option, std::string_view list,
                              const WordTable<Value, kSize>& words) {
  std::vector<Value> all;
  for (const std::string& item : items_of(list)) {
    const Value value = value_of_word(option, item, words);
    if (std::ranges::count(all, value) == 0) all.push_back(value);
  }
  return all;
}

/// In a container the runtime hides powercap in /sys, so the host's /sys is mounted elsewhere.
std::filesystem::path default_sysfs(const std::filesystem::path& chosen) {
  if (chosen != System{}.sysfs) return chosen;
  std::error_code ignored;
  for (const char* const place : {"/zeus_sys", "/host/sys"}) {
    if (std::filesystem::exists(std::filesystem::path(place) / "class", ignored)) return place;
  }
  return chosen;
}

/// One line for each option that other options make ineffective.
std::vector<std::string> without_effect(const CLI::App& serve, const ServeOptions& options) {
  std::vector<std::string> lines;
  const auto check = [&](bool has_effect, std::string_view why,
                         std::initializer_list<const char*> names) {
    for (const char* const name : names) {
      if (has_effect || serve.count(name) == 0) continue;
      lines.push_back(fmt::format("{} has no effect: {}", name, why));
    }
  };
  const bool has_key = !options.key_path.empty();
  // The kind of a systemd socket is known only when the daemon takes it over.
  const bool is_adopted = std::getenv("LISTEN_FDS") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  check(
      options.serves_file || is_adopted, "--mode uds is not given",
      {"--socket-path", "--socket-permissions", "--socket-uid", "--socket-gid", "--socket-group"});
  check(options.serves_tcp || is_adopted, "--mode tcp is not given",
        {"--tcp-bind-address", "--tls-cert", "--tls-key", "--tls-client-ca", "--allow-plain-http",
         "--public-cpu-period", "--max-connections-per-client", "--allow-dashboards"});
  check(!options.serves_tcp || !has_key, "with --signing-key-path, clients need a token",
        {"--public-cpu-period"});
  check(!options.history_dir.empty(), "--history-dir is not given", {"--history-size"});
  check(options.serves_dashboard, "--enable dashboard is not given", {"--dashboard-machines"});
  check(options.telemetry.has_value(), "--otlp is not given", kOtlpOptions);
  check(options.shares.has_value(), "--enable shares is not given", kShareOptions);
  check(has_key, "--signing-key-path is not given",
        {"--revoked", "--audience", "--max-streams-per-token"});
  check(std::ranges::count(options.enabled, TokenScope::gpu_control) > 0,
        "--enable gpu-control is not given",
        {"--keep-settings", "--settings-journal", "--gpu-command-overrides"});
  check(false, "one thread serves all clients", {"--num-workers"});
  return lines;
}

ServeOptions checked_serve(Raw raw, const CLI::App& app) {
  ServeOptions serve = std::move(raw.serve);
  const std::vector<ListenMode> modes = all_chosen("--mode", raw.mode, kModes);
  if (modes.empty()) refuse_value("--mode", "uds, tcp or uds,tcp", raw.mode);
  serve.serves_file = std::ranges::count(modes, ListenMode::file) > 0;
  serve.serves_tcp = std::ranges::count(modes, ListenMode::tcp) > 0;
  serve.socket.mode = permissions_of(raw.permissions);
  serve.tcp = parse_tcp_address(raw.tcp);
  if (!serve.tls_certificate.empty() && serve.tls_key.empty()) {
    throw InvalidArgument("--tls-cert needs --tls-key FILE, the key of the certificate");
  }
  EnabledGroups groups = enabled_groups(raw.enable);
  serve.enabled = std::move(groups.scopes);
  serve.serves_dashboard = groups.has_dashboard;
  serve.pages = checked_pages(raw.pages);
  serve.compat_metrics = all_chosen("--compat-metrics", raw.compat_metrics, kExporters);
  const SharesOptions shares = checked_shares(raw.shares);
  if (groups.has_shares) serve.shares = shares;
  serve.telemetry = checked_otlp(raw.otlp);
  serve.stream_format = value_of_word("--stream-format", raw.stream_format, kStreamFormats);
  serve.gpu_hz = std::clamp<std::uint32_t>(serve.gpu_hz, 1, kHighestHz);
  serve.cpu_hz = std::clamp<std::uint32_t>(serve.cpu_hz, 1, kHighestHz);
  serve.public_cpu_period = public_period_of(raw.public_cpu_period);
  serve.history =
      history_length(raw.history_s, app.count("--history") > 0, !serve.history_dir.empty());
  serve.gpu_backend = value_of_word("--gpu-backend", raw.gpu_backend, kBackends);
  serve.system = System::from_environment();
  serve.system.daemon_socket.clear();  // this daemon, or another one that knows no more
  serve.system.sysfs = default_sysfs(serve.system.sysfs);
  if (!raw.sysfs.empty()) serve.system.sysfs = raw.sysfs;
  if (!raw.procfs.empty()) serve.system.procfs = raw.procfs;
  if (!raw.nvml_library.empty()) serve.system.nvml_library = raw.nvml_library;
  if (serve.shares) serve.shares->places.system = serve.system;
  serve.without_effect = without_effect(app, serve);
  return serve;
}

TokenOptions checked_token(Raw raw) {
  TokenOptions token = std::move(raw.token);
  token.scopes = all_chosen("--scope", raw.scope, kScopes);
  const auto lifetime = parse_lifetime(raw.expires);
  if (!lifetime)
    refuse_value("--expires", "a length of time such as 7d or 12h, or never", raw.expires);
  if (*lifetime > 0) token.lifetime_s = *lifetime;
  return token;
}

/// An option that takes a whole number.
template <class Number>
CLI::Option* add_number(CLI::App& app, const char* name, Number& to, const char* help,
                        const char* type, std::uint32_t least = 0,
                        std::uint32_t most = std::numeric_limits<std::uint32_t>::max()) {
  // CLI11 would read 010 as an octal number.
  const auto refuse_others = [least, most](std::string& given) {
    const auto number = parse_unsigned<std::uint32_t>(given);
    if (!number || *number < least || *number > most) {
      return fmt::format("'{}' is not a whole number from {} to {}", given, least, most);
    }
    given = std::to_string(*number);
    return std::string();
  };
  return app.add_option(name, to, help)
      ->type_name(type)
      ->transform(CLI::Validator(refuse_others, "", ""));
}

void add_listening(CLI::App& serve, Raw& raw) {
  ServeOptions& to = raw.serve;
  // A list may be given in parts: --mode uds --mode tcp.
  serve.add_option("--mode", raw.mode, "Where to listen: uds, tcp or uds,tcp")
      ->type_name("TEXT")
      ->join(',');
  add_named(serve, "--socket-path", to.socket.path, "Path of the Unix socket", "PATH");
  serve.add_option("--socket-permissions", raw.permissions, "Mode of the socket, in octal")
      ->type_name("MODE");
  add_number(serve, "--socket-uid", to.socket.owner, "Owner of the socket", "UID");
  CLI::Option* const gid =
      add_number(serve, "--socket-gid", to.socket.group, "Group of the socket", "GID");
  add_named(serve, "--socket-group", to.socket_group,
            "Group of the socket, by name (default if root starts it: wattle or wattled)", "NAME")
      ->excludes(gid);
  serve.add_option("--tcp-bind-address", raw.tcp, "Address for --mode tcp")->type_name("HOST:PORT");
  CLI::Option* const certificate =
      add_named(serve, "--tls-cert", to.tls_certificate, "Encrypt TCP with this certificate (PEM)");
  add_named(serve, "--tls-key", to.tls_key, "Key of the certificate (PEM)")->needs(certificate);
  add_named(serve, "--tls-client-ca", to.tls_client_authorities,
            "Over TCP, serve only clients whose certificate these authorities signed (PEM)")
      ->needs(certificate);
  serve.add_flag("--allow-plain-http", to.allows_plain_http,
                 "Serve other machines without encryption");
}

void add_devices(CLI::App& serve, Raw& raw) {
  ServeOptions& to = raw.serve;
  serve
      .add_option("--enable", raw.enable,
                  "What to serve, comma-separated: gpu-read, cpu-read, gpu-control, dashboard (a "
                  "page for browsers at /), shares (energy of pods, jobs, services); without one "
                  "for reading: with gpu-read,cpu-read")
      ->type_name("LIST")
      ->join(',');
  serve
      .add_option("--compat-metrics", raw.compat_metrics,
                  "Serve /metrics under the names of other exporters, too: dcgm, node, kepler, "
                  "zeus, comma-separated")
      ->type_name("LIST")
      ->join(',')
      ->default_str("");
  add_page_options(serve, raw.pages);
  add_share_options(serve, raw.shares);
  serve.add_flag("--keep-settings", to.keeps_settings,
                 "Keep GPUs as clients set them (default: restore them at the end)");
  add_named(serve, "--settings-journal", to.journal_path,
            "File with the settings of GPUs to restore");
  add_named(serve, "--gpu-command-overrides", to.overrides_path,
            "Set GPUs with the commands in this file (TOML)");
  serve.add_option("--stream-format", raw.stream_format,
                   "per-device for Zeus 0.16 and later, snapshot for 0.14 and 0.15");
  add_number(serve, "--gpu-power-poll-hz", to.gpu_hz,
             "GPU samples per second for a stream, 1 to 1000 (0 is taken as 1)", "HZ");
  add_number(serve, "--cpu-power-poll-hz", to.cpu_hz,
             "CPU samples per second for a stream, 1 to 1000 (0 is taken as 1)", "HZ");
  serve
      .add_option("--public-cpu-period", raw.public_cpu_period,
                  "Period of CPU samples for TCP clients without a key, who see power in steps of "
                  "1 W; 0: no limit")
      ->type_name("SECONDS");
  add_number(serve, "--history", raw.history_s,
             "Keep energy for /api/v1/energy for SECONDS; reads all devices 10 times a second",
             "SECONDS", 0, static_cast<std::uint32_t>(kLongestHistory.count()));
  add_named(serve, "--history-dir", to.history_dir,
            "Keep this history on disk too, so that it outlives the daemon (with it, --history is "
            "172800 if not given)",
            "DIR");
  add_number(serve, "--history-size", to.history_size_mib,
             "Most that --history-dir takes, in MiB; the oldest files are removed", "MIB",
             kLeastHistoryMib, kMostHistoryMib);
  add_otlp_options(serve, raw.otlp);
  serve.add_option("--gpu-backend", raw.gpu_backend, "GPUs to serve: auto (all), nvml or amdsmi");
  add_number(serve, "--num-workers", raw.workers, "Ignored; accepted for zeusd compatibility", "N")
      ->default_str("");
}

void add_clients(CLI::App& serve, ServeOptions& to) {
  add_named(serve, "--signing-key-path", to.key_path, "Require tokens signed with this key");
  add_named(serve, "--revoked", to.revoked_path, "Refuse the tokens in this file");
  add_named(serve, "--audience", to.audience, "Also accept tokens for this server (aud)", "NAME");
  add_number(serve, "--max-connections", to.most_connections, "Connections at the same time", "N",
             1);
  add_number(serve, "--max-connections-per-client", to.most_per_client,
             "Connections per TCP address (default: a quarter of all)", "N", 1)
      ->default_str("");
  add_number(serve, "--max-failures-per-client", to.most_failures_per_client,
             "Failed authentications per address or user at once; then one per second", "N", 1);
  add_number(serve, "--max-streams-per-token", to.most_per_token,
             "Streams per token (default: a quarter of all connections)", "N", 1)
      ->default_str("");
}

void add_serve(CLI::App& app, Raw& raw) {
  CLI::App& serve = *app.add_subcommand("serve", "Serve power and energy over HTTP");
  serve.footer(kServeFooter);
  serve.option_defaults()->always_capture_default();
  ServeOptions& to = raw.serve;
  add_listening(serve, raw);
  add_devices(serve, raw);
  add_clients(serve, to);
  add_named(serve, "--user", to.user,
            "If root starts it: user to become once everything is open; root: stay root", "NAME")
      ->default_str("wattled");
  add_named(serve, "--sysfs", raw.sysfs,
            "Folder to read instead of /sys (WATTLE_SYSFS; /zeus_sys or /host/sys if there)",
            "DIR");
  add_named(serve, "--procfs", raw.procfs, "Folder to read instead of /proc (WATTLE_PROCFS)",
            "DIR");
  add_named(serve, "--nvml-library", raw.nvml_library,
            "Library to use instead of libnvidia-ml.so.1 (WATTLE_NVML_LIBRARY)", "PATH");
}

void add_token(CLI::App& app, Raw& raw) {
  CLI::App* const token = app.add_subcommand("token", "Make tokens for clients");
  token->require_subcommand(1);
  CLI::App& issue = *token->add_subcommand("issue", "Print a token");
  add_named(issue, "--signing-key-path", raw.token.key_path, "Key of the server")->required();
  issue.add_option("--user", raw.token.user, "User of the token")->type_name("NAME")->required();
  add_named(issue, "--audience", raw.token.audience, "Server that the token is for (default: any)",
            "NAME");
  issue
      .add_option("--scope", raw.scope,
                  "What it permits, comma-separated: gpu-read, cpu-read, gpu-control")
      ->type_name("LIST")
      ->join(',');
  issue.add_option("--expires", raw.expires, "Lifetime: 1h, 7d, 30days, 1y ..., or never")
      ->type_name("TIME")
      ->required();
}

TextAnswer usage_error(std::string_view message) {
  return {
      .text = fmt::format("wattled: {}\n", message), .is_error = true, .exit_status = kUsageError};
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Raw raw;
  CLI::App app("Serve the power and energy of this machine", "wattled");
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", "wattled " + version_text());
  add_serve(app, raw);
  add_token(app, raw);
  try {
    app.parse(argc, argv);
    if (app.got_subcommand("serve")) {
      return checked_serve(std::move(raw), *app.get_subcommand("serve"));
    }
    return checked_token(std::move(raw));
  } catch (const CLI::CallForVersion& asked) {
    return TextAnswer{.text = std::string(asked.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    return TextAnswer{.text = app.help()};
  } catch (const CLI::ParseError& error) {
    const auto [command, name] = innermost_command(app);
    const auto is = [&](CLI::ExitCodes code) {
      return error.get_exit_code() == static_cast<int>(code);
    };
    const bool is_unexpected =
        is(CLI::ExitCodes::ExtrasError) ||
        (is(CLI::ExitCodes::RequiredError) && !command->get_subcommands({}).empty());
    return usage_error(fmt::format(
        "{} (see {} --help)",
        is_unexpected ? unknown_word_error(app, *command) : option_message(error.what()), name));
  } catch (const InvalidArgument& error) {
    return usage_error(error.what());
  }
}

}  // namespace wattle::daemon
