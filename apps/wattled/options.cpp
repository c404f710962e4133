#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>

#include "base/nearest.hpp"
#include "base/parse.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "energy_history.hpp"
#include "lifetime.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

/// No sensor is renewed more often.
constexpr std::uint32_t kHighestHz = 1000;

constexpr const char* kServeFooter = R"(
Serves the power and energy of this machine's CPUs and GPUs over HTTP, in the protocol of zeusd.
What cannot be read is left out, and /discover says why. Logs go to stderr. SIGTERM ends it, SIGHUP
has it read the signing key again.

Without a key, whoever may open the socket file may read everything; through TCP, where only this
machine reaches it, CPU energy is shown in whole joules once a second, unless --public-cpu-period
says otherwise. Any other address needs a key.
)";

/// What the options are read into before they are checked.
struct Raw {
  std::string mode = "uds";
  std::string permissions = "660";
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::string tcp = "127.0.0.1:4938";
  std::string enable = "gpu-read,cpu-read";
  std::string stream_format = "per-device";
  std::string gpu_backend = "auto";
  std::string public_cpu_period = "1";
  std::uint32_t history_s = 0;
  std::string sysfs;
  std::string procfs;
  std::string nvml_library;
  std::string scope;
  std::string expires;
  ServeOptions serve;
  TokenOptions token;
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) items.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

std::vector<Scope> scopes_of(const std::string& list) {
  std::vector<Scope> scopes;
  for (const std::string& name : split(list)) {
    const auto scope = parse_scope(name);
    if (!scope) {
      throw InvalidArgument(
          fmt::format("there is no '{}': say gpu-read, cpu-read or gpu-control", printable(name)));
    }
    if (std::ranges::find(scopes, *scope) == scopes.end()) scopes.push_back(*scope);
  }
  return scopes;
}

mode_t permissions_of(const std::string& text) {
  constexpr unsigned kAll = 0777;
  unsigned mode = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, mode, 8);
  if (error != std::errc{} || stopped != end || mode > kAll) {
    throw InvalidArgument(fmt::format(
        "'{}' is no mode of a file: say --socket-permissions 660, in octal", printable(text)));
  }
  return static_cast<mode_t>(mode);
}

/// A container has the host's /sys under another name: the runtime hides powercap in its own.
std::filesystem::path default_sysfs(const std::filesystem::path& chosen) {
  if (chosen != System{}.sysfs) return chosen;
  std::error_code ignored;
  for (const char* const place : {"/zeus_sys", "/host/sys"}) {
    if (std::filesystem::exists(std::filesystem::path(place) / "class", ignored)) return place;
  }
  return chosen;
}

GpuBackend backend_of(const std::string& name) {
  if (name == "auto") return GpuBackend::all;
  if (name == "nvml") return GpuBackend::nvidia;
  if (name == "amdsmi") return GpuBackend::amd;
  throw InvalidArgument(
      fmt::format("there is no backend '{}': say auto, nvml or amdsmi", printable(name)));
}

std::chrono::seconds history_of(std::uint32_t wanted_s) {
  const std::chrono::seconds history(wanted_s);
  if (history > kLongestHistory) {
    throw InvalidArgument(fmt::format("cannot remember {} s: say --history {} at most", wanted_s,
                                      kLongestHistory.count()));
  }
  return history;
}

std::chrono::milliseconds public_period_of(const std::string& text) {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 3600.0;
  const auto seconds = parse_double(text);
  // NaN is in no range.
  const bool is_period = seconds && *seconds >= kShortestS && *seconds <= kLongestS;
  if (!is_period && seconds != 0.0) {
    throw InvalidArgument(
        fmt::format("'{}' is no period: say --public-cpu-period SECONDS, 0.01 to 3600, or 0 for no "
                    "limit",
                    printable(text)));
  }
  return std::chrono::milliseconds(std::llround(*seconds * 1000.0));
}

ServeOptions checked_serve(Raw raw) {
  ServeOptions serve = std::move(raw.serve);
  serve.serves_file = serve.serves_tcp = false;
  for (const std::string& mode : split(raw.mode)) {
    if (mode == "uds") {
      serve.serves_file = true;
    } else if (mode == "tcp") {
      serve.serves_tcp = true;
    } else {
      throw InvalidArgument(
          fmt::format("there is no mode '{}': say uds, tcp or uds,tcp", printable(mode)));
    }
  }
  if (!serve.serves_file && !serve.serves_tcp) {
    throw InvalidArgument("nothing to serve at: say --mode uds, tcp or uds,tcp");
  }
  serve.socket.mode = permissions_of(raw.permissions);
  if (raw.uid) serve.socket.owner = *raw.uid;
  if (raw.gid) serve.socket.group = *raw.gid;
  serve.tcp = parse_tcp_address(raw.tcp);
  if (!serve.tls_certificate.empty() && serve.tls_key.empty()) {
    throw InvalidArgument("a certificate needs its key: say --tls-key FILE");
  }
  serve.enabled = scopes_of(raw.enable);
  if (raw.stream_format == "snapshot") {
    serve.stream_format = wire::StreamFormat::snapshot;
  } else if (raw.stream_format != "per-device") {
    throw InvalidArgument(fmt::format("there is no stream format '{}': say per-device or snapshot",
                                      printable(raw.stream_format)));
  }
  serve.gpu_hz = std::clamp<std::uint32_t>(serve.gpu_hz, 1, kHighestHz);
  serve.cpu_hz = std::clamp<std::uint32_t>(serve.cpu_hz, 1, kHighestHz);
  serve.public_cpu_period = public_period_of(raw.public_cpu_period);
  serve.history = history_of(raw.history_s);
  serve.gpu_backend = backend_of(raw.gpu_backend);
  serve.system = System::from_environment();
  serve.system.daemon_socket.clear();  // that is us, or somebody who knows no more than we do
  serve.system.sysfs = default_sysfs(serve.system.sysfs);
  if (!raw.sysfs.empty()) serve.system.sysfs = raw.sysfs;
  if (!raw.procfs.empty()) serve.system.procfs = raw.procfs;
  if (!raw.nvml_library.empty()) serve.system.nvml_library = raw.nvml_library;
  return serve;
}

TokenOptions checked_token(Raw raw) {
  TokenOptions token = std::move(raw.token);
  token.scopes = scopes_of(raw.scope);
  const auto lifetime = parse_lifetime(raw.expires);
  if (!lifetime) {
    throw InvalidArgument(fmt::format("'{}' is no length of time: say --expires 7d, 12h or never",
                                      printable(raw.expires)));
  }
  if (*lifetime > 0) token.lifetime_s = *lifetime;
  return token;
}

/// An option that takes a path or a name. An empty one, of a variable that is not set, is an error:
/// it would switch off what was asked for.
CLI::Option* add_named(CLI::App& app, const char* name, std::string& to, const char* help) {
  const auto refuse_empty = [](const std::string& given) {
    return given.empty() ? std::string("it is empty") : std::string();
  };
  return app.add_option(name, to, help)
      ->type_name("FILE")
      ->check(CLI::Validator(refuse_empty, "", ""));
}

void add_serve(CLI::App& app, Raw& raw) {
  CLI::App* const serve = app.add_subcommand("serve", "Serve power and energy over HTTP");
  serve->footer(kServeFooter);
  ServeOptions& to = raw.serve;
  serve->add_option("--mode", raw.mode, "Where to serve: uds, tcp or uds,tcp")->default_str("uds");
  add_named(*serve, "--socket-path", to.socket.path, "The Unix socket")
      ->type_name("PATH")
      ->default_str(to.socket.path);
  serve->add_option("--socket-permissions", raw.permissions, "Its mode, in octal")
      ->type_name("MODE")
      ->default_str("660");
  serve->add_option("--socket-uid", raw.uid, "The user it is given to")->type_name("UID");
  CLI::Option* const gid =
      serve->add_option("--socket-gid", raw.gid, "The group it is given to")->type_name("GID");
  add_named(*serve, "--socket-group", to.socket_group,
            "The group it is given to, by its name (default, started by root: wattle or wattled)")
      ->type_name("NAME")
      ->excludes(gid);
  serve->add_option("--tcp-bind-address", raw.tcp, "The address for --mode tcp")
      ->type_name("HOST:PORT")
      ->default_str("127.0.0.1:4938");
  CLI::Option* const certificate = add_named(*serve, "--tls-cert", to.tls_certificate,
                                             "Encrypt TCP with this certificate (PEM)");
  add_named(*serve, "--tls-key", to.tls_key, "The certificate's key (PEM)")->needs(certificate);
  add_named(*serve, "--tls-client-ca", to.tls_client_authorities,
            "Serve through TCP only clients with a certificate that these authorities signed (PEM)")
      ->needs(certificate);
  serve->add_flag("--allow-plain-http", to.allows_plain_http,
                  "Serve other machines without encryption");
  serve->add_option("--enable", raw.enable, "What to serve: gpu-read, cpu-read, gpu-control")
      ->type_name("LIST")
      ->default_str("gpu-read,cpu-read");
  serve->add_flag("--keep-settings", to.keeps_settings,
                  "Leave GPUs as clients set them; else they are put back at the end");
  add_named(*serve, "--settings-journal", to.journal_path,
            "The file in which it remembers how GPUs were before")
      ->default_str(to.journal_path);
  add_named(*serve, "--gpu-command-overrides", to.overrides_path,
            "Set GPUs by the commands in this file (TOML)");
  serve
      ->add_option("--stream-format", raw.stream_format,
                   "per-device for Zeus 0.16 and later, snapshot for 0.14 and 0.15")
      ->default_str("per-device");
  serve->add_option("--gpu-power-poll-hz", to.gpu_hz, "How often GPUs are read for a stream")
      ->type_name("HZ")
      ->default_str("20");
  serve->add_option("--cpu-power-poll-hz", to.cpu_hz, "How often CPUs are")
      ->type_name("HZ")
      ->default_str("10");
  serve
      ->add_option(
          "--public-cpu-period", raw.public_cpu_period,
          "How often CPUs are read for clients of TCP without a key, in steps of a watt; 0: "
          "as for all others")
      ->type_name("SECONDS")
      ->default_str("1");
  serve
      ->add_option("--history", raw.history_s,
                   "How far back /api/v1/energy can be asked; all is read 10 times a second then")
      ->type_name("SECONDS")
      ->default_str("0");
  serve->add_option("--gpu-backend", raw.gpu_backend, "GPUs to serve: auto (all), nvml or amdsmi")
      ->default_str("auto");
  serve->add_option("--num-workers", to.workers, "Without effect, as zeusd has it")->type_name("N");
  add_named(*serve, "--signing-key-path", to.key_path, "Ask for tokens signed with this key");
  add_named(*serve, "--revoked", to.revoked_path, "Refuse the tokens in this file");
  add_named(*serve, "--audience", to.audience, "Take also tokens that are for this server (aud)")
      ->type_name("NAME");
  serve->add_option("--max-connections", to.most_connections, "Connections at the same time")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->default_str("4096");
  serve
      ->add_option("--max-connections-per-client", to.most_per_client,
                   "Connections of one address through TCP (default: a quarter of all)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  serve
      ->add_option("--max-failures-per-client", to.most_failures_per_client,
                   "Failures to authenticate of one address or user at once; then one a second")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->default_str("20");
  serve
      ->add_option("--max-streams-per-token", to.most_per_token,
                   "Streams of one token (default: a quarter of all connections)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  add_named(*serve, "--user", to.user,
            "Started by root: whose the process is once everything is open; root: nothing changes")
      ->type_name("NAME")
      ->default_str("wattled");
  add_named(*serve, "--sysfs", raw.sysfs,
            "Folder to read instead of /sys (WATTLE_SYSFS; /zeus_sys or /host/sys if there)")
      ->type_name("DIR");
  add_named(*serve, "--procfs", raw.procfs, "Folder to read instead of /proc (WATTLE_PROCFS)")
      ->type_name("DIR");
  add_named(*serve, "--nvml-library", raw.nvml_library,
            "Library to use instead of libnvidia-ml.so.1 (WATTLE_NVML_LIBRARY)")
      ->type_name("PATH");
}

void add_token(CLI::App& app, Raw& raw) {
  CLI::App* const token = app.add_subcommand("token", "Tokens for clients");
  token->require_subcommand(1);
  CLI::App* const issue = token->add_subcommand("issue", "Print a token");
  add_named(*issue, "--signing-key-path", raw.token.key_path, "The key, as the server has it")
      ->required();
  issue->add_option("--user", raw.token.user, "Who it is for")->type_name("NAME")->required();
  add_named(*issue, "--audience", raw.token.audience, "The server that it is for (default: any)")
      ->type_name("NAME");
  issue->add_option("--scope", raw.scope, "What it is good for: gpu-read, cpu-read, gpu-control")
      ->type_name("LIST");
  issue->add_option("--expires", raw.expires, "In how long: 1h, 7d, 30days, 1y ..., or never")
      ->type_name("TIME")
      ->required();
}

/// The sub-command that was named last.
const CLI::App& asked(const CLI::App& app) {
  const CLI::App* found = &app;
  while (!found->get_subcommands().empty()) found = found->get_subcommands().front();
  return *found;
}

/// The message for the first unknown word, with what may have been meant, or for a missing command.
std::string unexpected(const CLI::App& app) {
  const CLI::App& command = asked(app);
  std::vector<std::string> known;
  for (const CLI::App* sub : command.get_subcommands({})) known.push_back(sub->get_name());
  const std::string commands = fmt::format("{}", fmt::join(known, " or "));
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) return "no command given: " + commands;
  const std::string name = words.front().substr(0, words.front().find('='));
  const char* const what = name.starts_with('-') ? "unknown option"
                           : commands.empty()    ? "unexpected argument"
                                                 : "unknown command";
  return fmt::format("{} {}{}", what, shell_quoted(name), did_you_mean(name, known));
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Raw raw;
  CLI::App app("Serves the power and energy of this machine", "wattled");
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", "wattled " + version_text());
  add_serve(app, raw);
  add_token(app, raw);
  try {
    app.parse(argc, argv);
    const bool serves = app.got_subcommand("serve");
    if (serves) return checked_serve(std::move(raw));
    return checked_token(std::move(raw));
  } catch (const CLI::CallForVersion& asked) {
    return Answer{.text = std::string(asked.what()) + "\n"};
  } catch (const CLI::CallForHelp&) {
    return Answer{.text = asked(app).help()};
  } catch (const CLI::ParseError& error) {
    const auto is = [&](CLI::ExitCodes code) {
      return error.get_exit_code() == static_cast<int>(code);
    };
    const bool is_missing =
        is(CLI::ExitCodes::RequiredError) && !asked(app).get_subcommands({}).empty();
    const bool is_unexpected = is_missing || is(CLI::ExitCodes::ExtrasError);
    return Answer{.text = fmt::format("wattled: {} (see wattled --help)\n",
                                      is_unexpected ? unexpected(app) : printable(error.what())),
                  .is_error = true,
                  .exit_status = kUsageError};
  } catch (const InvalidArgument& error) {
    return Answer{.text = fmt::format("wattled: {}\n", error.what()),
                  .is_error = true,
                  .exit_status = kUsageError};
  }
}

}  // namespace wattle::daemon
