#include "serve/serve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <ranges>
#include <utility>

#include "api/public_cpu.hpp"
#include "base/files/file.hpp"
#include "base/files/state_folder.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "devices/device_search.hpp"
#include "devices/inventory.hpp"
#include "history/disk_history.hpp"
#include "http/event_loop.hpp"
#include "http/server.hpp"
#include "http/socket_group.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/cpu_zones.hpp"
#include "serve/log.hpp"
#include "serve/privileges.hpp"
#include "serve/secrets.hpp"
#include "serve/service_manager.hpp"
#include "serve/start_files.hpp"
#include "wattle/error.hpp"
#include "wattle/wattle.hpp"

namespace wattle::daemon {
namespace {

/// Raises the limit of descriptors, and returns the possible number of connections.
std::size_t possible_connections(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t needed = wanted + kSpareDescriptors;
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min(limit.rlim_max, needed);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
  }
  const std::size_t possible = connections_within(limit.rlim_cur, wanted);
  if (possible < wanted) {
    log_warning(fmt::format("at most {} connections: the limit of open files is {}", possible,
                            limit.rlim_cur));
  }
  return possible;
}

bool controls_gpus(const ServeOptions& options) {
  return std::ranges::count(options.enabled, TokenScope::gpu_control) > 0;
}

/// Null: drivers set GPUs. Call it while there is one thread.
std::shared_ptr<const CommandRunner> start_commands(const ServeOptions& options) {
  if (options.overrides_path.empty() || !controls_gpus(options)) return nullptr;
  return std::make_shared<const CommandRunner>(CommandOverrides::load(options.overrides_path));
}

void log_commands(const CommandRunner* commands, const ServeOptions& options) {
  if (commands == nullptr) return;
  const std::string path = printable(options.overrides_path);
  const CommandOverrides& overrides = commands->overrides();
  log_info(fmt::format("commands in {} set GPUs: {}", path, overrides.names()));
  if (overrides.is_writable_by_group()) {
    log_warning(fmt::format(
        "the group of {} can change it, and so run any command; run 'chmod g-w FILE'", path));
  }
}

/// The socket for setting GPUs should be open to fewer users than the one for reading.
void check_control(const std::vector<ListeningSocket>& listeners, bool makes_file,
                   const ServeOptions& options) {
  constexpr mode_t kOthers = 0007;
  const auto refuse_everybody = [](const std::string& place, std::string_view remedy) {
    throw Error(
        fmt::format("will not let every user of this machine set GPUs at {}: give a key with "
                    "--signing-key-path, or {}",
                    printable(place), remedy));
  };
  const bool has_key = !options.key_path.empty();
  if (makes_file && !has_key && (options.socket.mode & kOthers) != 0) {
    refuse_everybody(options.socket.path, "--socket-permissions 0660");
  }
  for (const ListeningSocket& listener : listeners) {
    if (listener.is_local_socket && !has_key && is_open_to_everybody(listener.name)) {
      refuse_everybody(listener.name, "set SocketMode=0660 in its systemd unit");
    }
    if (listener.is_loopback || !options.tls_certificate.empty()) continue;
    throw Error(
        fmt::format("will not let other machines set GPUs at {} without encryption: use --tls-cert "
                    "FILE, or leave gpu-control out of --enable",
                    listener.name));
  }
}

/// `makes_file`: a socket file is made after this.
void check_exposure(const std::vector<ListeningSocket>& listeners, bool makes_file,
                    const ServeOptions& options) {
  if (controls_gpus(options)) check_control(listeners, makes_file, options);
  for (const ListeningSocket& listener : listeners) {
    if (listener.is_loopback) continue;
    if (options.key_path.empty()) {
      throw Error(
          fmt::format("will not serve other machines at {} without a key: give one with "
                      "--signing-key-path",
                      listener.name));
    }
    if (options.tls_certificate.empty() && !options.allows_plain_http) {
      throw Error(
          fmt::format("will not serve other machines at {} without encryption, which shows "
                      "tokens to anyone on the network: use --tls-cert FILE, or --allow-plain-http "
                      "where something else encrypts",
                      listener.name));
    }
  }
}

/// The socket file comes last, after the steps that can fail: it replaces that of an earlier
/// daemon.
std::vector<ListeningSocket> listen(ServeOptions options, const std::string& user) {
  std::vector<ListeningSocket> listeners = adopted_listeners();
  const bool is_service = !listeners.empty();
  if (!is_service && options.serves_tcp) listeners.push_back(listen_at_tcp(options.tcp));
  const bool makes_file = !is_service && options.serves_file;
  check_exposure(listeners, makes_file, options);
  if (!makes_file) return listeners;
  choose_socket_group(options);
  options.socket.folder_owner = uid_of(user);
  listeners.insert(listeners.begin(), listen_at_file(options.socket));
  return listeners;
}

std::string names_of(const std::vector<ListeningSocket>& listeners) {
  return fmt::format("{}",
                     fmt::join(listeners | std::views::transform(&ListeningSocket::name), " and "));
}

void log_who_may_connect(const std::vector<ListeningSocket>& listeners) {
  for (const ListeningSocket& listener : listeners) {
    if (!listener.is_local_socket) continue;
    const std::string who = who_may_connect(listener.name);
    if (!who.empty()) log_info(fmt::format("{}: {}", printable(listener.name), who));
  }
}

/// The text about the CPU energy that strangers at a port see; empty: all of it, or none.
std::string cpu_warning_for(const std::vector<ListeningSocket>& listeners,
                            const ServeOptions& options) {
  const bool reads_cpus = std::ranges::count(options.enabled, TokenScope::cpu_read) > 0;
  if (options.public_cpu_period.count() == 0 || !options.key_path.empty() || !reads_cpus) return {};
  const auto port = std::ranges::find(listeners, false, &ListeningSocket::is_local_socket);
  return port == listeners.end() ? std::string()
                                 : public_cpu_warning(port->name, options.public_cpu_period);
}

/// Remarks on the effects of options here.
void log_user(const ServeOptions& options, const std::string& user) {
  for (const std::string& line : options.without_effect) log_warning(line);
  const std::string& chosen = options.user;
  if (!is_root() && !chosen.empty()) {
    log_info("--user has no effect: only root becomes another user");
  } else if (is_root() && user.empty() && chosen != "root") {
    log_warning("runs as root, which it does not need; name a user with --user");
  }
}

/// In which files are made later.
void make_own_folders(const std::string& user, const ServeOptions& options) {
  const std::string spool = options.telemetry ? options.telemetry->spool : "";
  for (const std::string& folder : {options.history_dir, spool}) {
    if (!folder.empty()) make_folder_of(user, folder);
  }
}

/// Gives up root's rights, which were needed only for the start.
void leave_root(const std::string& user, const ServeOptions& options) {
  if (user.empty()) return;
  give_up_root(user, controls_gpus(options) ? KeptRights::administration : KeptRights::nothing,
               options.telemetry ? Reach::network : Reach::machine);
  log_info(fmt::format("now runs as {}", printable(user)));
}

/// The journal, with the settings of an earlier daemon that was killed. Null: settings stay.
std::shared_ptr<SettingsJournal> open_journal(const ServeOptions& options,
                                              const std::string& user) {
  if (!controls_gpus(options)) return nullptr;
  const std::filesystem::path path = options.journal_path;
  if (!options.keeps_settings && path.has_parent_path()) {
    make_folder_of(user, path.parent_path().string());
  }
  auto journal = std::make_shared<SettingsJournal>(path.string(), uid_of(user));
  if (!journal->problem().empty()) log_warning("settings of GPUs: " + journal->problem());
  if (!options.keeps_settings) return journal;
  if (!journal->changed().empty()) log_info("GPUs stay as an earlier daemon set them");
  journal->forget_all();
  journal->flush();
  return nullptr;
}

/// Throws if settings cannot be recorded.
void check_journal(const SettingsJournal& journal) {
  try {
    const WholeFile file(journal.path(), WholeFile::Mode::replace);
  } catch (const WriteError& error) {
    throw Error(
        fmt::format("cannot control GPUs: {}; name another file with --settings-journal, or "
                    "leave settings as they are with --keep-settings",
                    error.what()));
  }
}

Inventory find_inventory(const ServeOptions& options) {
  Survey found = find_sensors(options.system, options.gpu_backend, DomainKinds::all());
  log_refusals(found);
  Inventory inventory =
      take_inventory(std::move(found), options.enabled, list_cpu_zones(options.system));
  inventory.cpu_model = read_cpu_info(options.system).model_name;
  return inventory;
}

constexpr std::chrono::nanoseconds kSecond = std::chrono::seconds(1);

/// Null where nobody asked for it.
std::unique_ptr<EnergyHistory> history_of(Inventory& inventory, const ServeOptions& options,
                                          Loop& loop) {
  if (options.history.count() == 0) return nullptr;
  return start_energy_history(inventory, options.enabled,
                              {.kept = options.history, .gpu_period = kSecond / options.gpu_hz},
                              loop, machine_clock());
}

/// The folder of the history on disk, locked; null where nobody asked for it.
std::shared_ptr<const ChunkFolder> open_history_folder(const ServeOptions& options) {
  if (options.history_dir.empty()) return nullptr;
  return std::make_shared<const ChunkFolder>(options.history_dir);
}

/// Null without a folder.
std::unique_ptr<DiskHistory> keep_on_disk(Service& service, Loop& loop,
                                          std::shared_ptr<const ChunkFolder> folder,
                                          const ServeOptions& options) {
  if (!folder || service.energy_history() == nullptr) return nullptr;
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
  return std::make_unique<DiskHistory>(
      *service.energy_history(), loop, std::move(folder),
      DiskHistoryOptions{
          .limits = {.bytes = options.history_size_mib * kMebibyte, .age = options.history},
          .machine = machine_number()});
}

ServiceOptions service_options(const ServeOptions& options, std::size_t most_connections,
                               std::shared_ptr<SettingsJournal> journal,
                               std::shared_ptr<const CommandRunner> commands) {
  return {static_cast<const OfferOptions&>(options),
          this_host(),
          {.gpu_period = kSecond / options.gpu_hz,
           .cpu_period = kSecond / options.cpu_hz,
           .format = options.stream_format},
          options.most_per_token > 0 ? options.most_per_token
                                     : std::max<std::size_t>(1, most_connections / 4),
          std::move(journal),
          std::move(commands)};
}

/// Looks for drivers that are loaded later, and adds their devices.
DeviceSearch search_for(Service& service, Loop& loop, const ServeOptions& options) {
  return {loop, [&] { return kinds_of_backend(service.missing_kinds(), options.gpu_backend); },
          [system = options.system, backend = options.gpu_backend](DomainKinds kinds) {
            return find_sensors(system, backend, kinds);
          },
          [&](Survey late) { service.add(std::move(late)); }};
}

struct Ending {
  bool has_begun = false;
  Service* service = nullptr;  ///< null until it exists
};

/// From here on no signal is lost, even if drivers are slow. A second signal ends the daemon at
/// once.
void end_on_signals(EventLoop& loop, Ending& ending) {
  for (const int signal : {SIGTERM, SIGINT}) {
    loop.on_signal(signal, [&] {
      const bool is_second = std::exchange(ending.has_begun, true);
      if (is_second || ending.service == nullptr) return loop.stop();
      ending.service->control().end([&loop] { loop.stop(); });
    });
  }
}

/// `warning`: may be empty.
void log_start(Service& service, const std::string& names, const std::string& warning) {
  log_info(fmt::format("wattled {} serves {} GPUs and {} CPUs at {}", version(),
                       service.gpus().ids().size(), service.cpus().ids().size(), names));
  if (!warning.empty()) log_warning(warning);
}

}  // namespace

int serve(const ServeOptions& options) {
  // A client or log reader that is gone must be an error of one write, not a signal. OpenSSL writes
  // without MSG_NOSIGNAL.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);  // of the file that the log goes to
  const std::shared_ptr<const CommandRunner> commands = start_commands(options);
  Secrets secrets = read_secrets(options);
  const std::string user = user_after_root(options.user);
  const NewFolders folders{options.serves_file ? options.socket.path : "",
                           controls_gpus(options) ? options.journal_path : ""};
  std::vector<ListeningSocket> listeners = listen(options, user);
  const SocketFiles files(listeners);
  set_log([](std::string_view message) { log_warning(message); });
  log_commands(commands.get(), options);

  EventLoop loop;
  Ending ending;
  end_on_signals(loop, ending);
  Inventory inventory = find_inventory(options);
  const std::size_t most_connections = possible_connections(options.most_connections);
  log_user(options, user);
  const std::shared_ptr<SettingsJournal> journal = open_journal(options, user);
  make_own_folders(user, options);
  // Earlier threads lack the kept capability: the kernel gives it to this thread and those that it
  // starts.
  leave_root(user, options);
  if (journal) check_journal(*journal);
  const std::shared_ptr<const ChunkFolder> folder = open_history_folder(options);
  std::unique_ptr<EnergyHistory> history = history_of(inventory, options, loop);
  follow_devices(inventory, options.enabled, kSecond / options.gpu_hz, machine_clock());
  Service service(std::move(inventory), loop,
                  service_options(options, most_connections, journal, commands));
  ending.service = &service;
  service.set_key(std::move(secrets.key));
  service.revoke(std::move(secrets.revoked));
  service.set_energy_history(std::move(history));
  const std::unique_ptr<DiskHistory> disk = keep_on_disk(service, loop, folder, options);
  const std::string names = names_of(listeners);
  log_who_may_connect(listeners);
  const std::string cpu_warning = cpu_warning_for(listeners, options);
  if (options.shares) service.divide_energy(*options.shares, !cpu_warning.empty());
  std::optional<Telemetry> telemetry;
  if (options.telemetry) telemetry.emplace(service, *options.telemetry);
  HttpServer server(loop, service, std::move(listeners),
                    {.places = place_limits(most_connections, options.most_per_client),
                     .tls = secrets.tls.get()});
  loop.on_signal(SIGHUP, [&] {
    read_again(secrets, options, service);
    server.end_overdue();
  });
  log_start(service, names, cpu_warning);
  service.control().restore([] {});
  DeviceSearch search = search_for(service, loop, options);
  search.start();
  ServiceManager manager(loop);
  ServiceManager::notify_ready();
  loop.run();
  ServiceManager::notify_stopping();
  log_info("stopped");
  return ending.has_begun ? 0 : kFailed;
}

}  // namespace wattle::daemon
