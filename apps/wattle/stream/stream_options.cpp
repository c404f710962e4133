#include "stream/stream_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/unexpected.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"
#include "wattle/system.hpp"

namespace wattle::app {
namespace {

constexpr std::size_t kLongestToken = std::size_t{64} << 10U;

constexpr const char* kFooter = R"(
SERVER is host:port, https://host:port, unix:/path or /path (default port: 4938; of a URL, that of its
scheme). Without one it is the daemon that WATTLE_SOCK_PATH, ZEUSD_SOCK_PATH or ZEUSD_HOST_PORT names,
else /run/wattled/wattled.sock.
On a terminal a table is kept up to date; elsewhere every period prints one JSON line per server.
Ctrl-C stops it and prints the totals. The token is read from a file or from ZEUSD_TOKEN
(WATTLE_TOKEN for the socket of a daemon without SERVER): every user can read a command line.
Exit status: 0 after Ctrl-C, 2 if no server provides the requested data, 64 for a wrong option.

examples:
  wattle stream node1:4938 node2:4938
  wattle stream --token-file ~/.wattle-token https://node1:4938 --gpus 0,1 --cpus none
  wattle stream --energy unix:/run/wattled/wattled.sock > power.jsonl
)";

struct RawStreamOptions {
  std::vector<std::string> servers;
  std::string gpus = "all";
  std::string cpus = "all";
  std::string token_file;
  std::string ca_file;
  std::string period = "1";
  bool proxy = false;
  std::string hosts_file;
  std::string by = "device";
  std::string sort = "name";
  bool energy = false;
  bool json = false;
};

class StreamHelp : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "usage: wattle stream [options] [SERVER...]\n";
  }
};

void add_options(CLI::App& app, RawStreamOptions& raw) {
  app.formatter(std::make_shared<StreamHelp>());
  app.footer(kFooter);
  app.add_option("SERVER", raw.servers, "Where daemons listen")->type_name("");
  add_value(app, "--gpus", raw.gpus, "LIST",
            "GPUs of each server: all, none, or numbers with commas");
  add_value(app, "--cpus", raw.cpus, "LIST", "CPU packages likewise");
  add_value(app, "--hosts", raw.hosts_file, "FILE",
            "A file with servers, one per line; empty lines and those after # are skipped");
  add_value(app, "--by", raw.by, "WHAT", "Rows of the table: device or node");
  add_value(app, "--sort", raw.sort, "WHAT", "Order of the table: name or power");
  app.add_flag("--energy", raw.energy, "Also print the energy since the start");
  add_value(app, "--token-file", raw.token_file, "FILE", "A file with the token (ZEUSD_TOKEN)");
  add_value(app, "--ca-file", raw.ca_file, "FILE", "Certificates to trust instead of the system's");
  app.add_flag("--proxy", raw.proxy,
               "Use the proxy that http_proxy, https_proxy or all_proxy names (not for no_proxy)");
  add_value(app, "--period", raw.period, "SECONDS", "Seconds between two lines");
  app.add_flag("--json", raw.json, "JSON lines on a terminal, too");
}

/// Absent: all.
std::optional<std::vector<std::uint32_t>> parse_indices(std::string_view list,
                                                        std::string_view option) {
  if (list == "all") return std::nullopt;
  std::vector<std::uint32_t> indices;
  if (list == "none") return indices;
  const std::string_view whole = list;
  for (bool more = true; more;) {
    more = list.find(',') != std::string_view::npos;
    const auto index = parse_unsigned<std::uint32_t>(take_until(list, ','));
    if (!index) {
      throw InvalidArgument(
          fmt::format("{} takes all, none, or numbers with commas between, not '{}'", option,
                      printable(whole)));
    }
    indices.push_back(*index);
  }
  return indices;
}

/// The content of the file that has `what`, at most `longest` bytes of it.
std::string content_of(const std::string& path, std::string_view what, std::size_t longest) {
  if (auto text = read_file(path, longest)) return *std::move(text);
  throw InvalidArgument(fmt::format("cannot read the {} in {}: {}", what, printable(path),
                                    std::generic_category().message(errno)));
}

/// The file's first line.
std::string read_token(const std::string& path) {
  const std::string text = content_of(path, "token", kLongestToken);
  std::string token = text.substr(0, text.find_first_of("\r\n"));
  if (token.empty()) throw InvalidArgument(fmt::format("{} holds no token", printable(path)));
  return token;
}

std::string token_of(const RawStreamOptions& raw, const Environment& environment) {
  if (!raw.token_file.empty()) return read_token(raw.token_file);
  const char* token = environment("ZEUSD_TOKEN");
  return token == nullptr ? "" : token;
}

/// Certificates that cannot be read show at each connection otherwise, as if they were not there.
void check_ca_file(const std::string& path) {
  if (path.empty()) return;
  constexpr std::size_t kLongest = std::size_t{16} << 20U;
  const std::string text = content_of(path, "certificates", kLongest);
  if (text.find("-----BEGIN ") == std::string::npos) {
    throw InvalidArgument(fmt::format("{} holds no certificate (PEM)", printable(path)));
  }
}

/// The lines of a file of servers.
std::vector<std::string> read_hosts(const std::string& path) {
  constexpr std::size_t kLongest = std::size_t{1} << 20U;
  const std::string text = content_of(path, "servers", kLongest);
  std::vector<std::string> hosts;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    std::string_view line = take_line(rest);
    line = line.substr(0, line.find('#'));
    const std::string_view host = take_word(line);
    if (!host.empty()) hosts.emplace_back(host);
    const std::string_view more = take_word(line);
    if (more.empty()) continue;
    throw InvalidArgument(fmt::format("{}:{}: unexpected '{}'; write one server per line",
                                      printable(path), number, printable(more)));
  }
  if (hosts.empty()) throw InvalidArgument(fmt::format("{} names no server", printable(path)));
  return hosts;
}

/// The daemon that the other commands ask, or the one of Zeus's clients.
Server usual_server(const Environment& environment) {
  const System system = System::from_environment();
  const char* const own = environment("WATTLE_SOCK_PATH");
  const bool is_named = own != nullptr && *own != '\0' && !system.daemon_socket.empty();
  Server server = is_named
                      ? Server::unix_socket(system.daemon_socket.string())
                      : Server::from_env_or(Server::unix_socket(System{}.daemon_socket.string()));
  // Their token too, which goes to no other machine.
  if (server.transport == Server::Transport::unix_socket) server.token = system.daemon_token;
  return server;
}

std::vector<Server> servers_of(const RawStreamOptions& raw, const Environment& environment) {
  std::vector<std::string> names = raw.servers;
  if (!raw.hosts_file.empty()) {
    std::ranges::copy(read_hosts(raw.hosts_file), std::back_inserter(names));
  }
  std::vector<Server> servers;
  servers.reserve(names.size() + 1);
  for (const std::string& name : names) servers.push_back(Server::parse(name));
  if (!servers.empty()) return servers;
  servers.push_back(usual_server(environment));
  return servers;
}

StreamTable table_of(const RawStreamOptions& raw) {
  constexpr WordTable<bool, 2> kRows = {{{"device", false}, {"node", true}}};
  constexpr WordTable<StreamOrder, 2> kOrders = {
      {{"name", StreamOrder::name}, {"power", StreamOrder::power}}};
  return {.shows_energy = raw.energy,
          .by_node = value_of_word("--by", raw.by, kRows),
          .order = value_of_word("--sort", raw.sort, kOrders)};
}

StreamOptions checked(const RawStreamOptions& raw, const Environment& environment) {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 3600.0;
  StreamOptions options{.servers = servers_of(raw, environment),
                        .period = parse_seconds(raw.period, "--period", kShortestS, kLongestS),
                        .table = table_of(raw),
                        .as_json = raw.json};
  const std::string token = token_of(raw, environment);
  check_ca_file(raw.ca_file);
  for (Server& server : options.servers) {
    if (!raw.token_file.empty() || server.token.empty()) server.token = token;
    server.ca_file = raw.ca_file;
    server.uses_proxy = raw.proxy;
    server.gpu_indices = parse_indices(raw.gpus, "--gpus");
    server.cpu_indices = parse_indices(raw.cpus, "--cpus");
  }
  return options;
}

}  // namespace

std::variant<StreamOptions, Answer> parse_stream_options(std::vector<std::string> words,
                                                         const Environment& environment) {
  CLI::App app("Follow the power of other machines through their daemons.", "wattle stream");
  RawStreamOptions raw;
  add_options(app, raw);
  try {
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    return checked(raw, environment);
  } catch (const CLI::CallForHelp&) {
    return Answer{.text = app.help()};
  } catch (const CLI::ExtrasError&) {
    return usage_error("stream", unexpected(app, app));
  } catch (const CLI::ParseError& error) {
    return usage_error("stream", option_message(error.what()));
  } catch (const Error& error) {
    return usage_error("stream", error.what());
  }
}

}  // namespace wattle::app
