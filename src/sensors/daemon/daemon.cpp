#include "sensors/daemon/daemon.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/group_name.hpp"
#include "base/text/text.hpp"
#include "sensors/daemon/daemon_sensor.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::daemon_source {
namespace {

SensorRefusal refusal(std::string reason, std::string proof, std::string remedy,
                      std::string_view risk = {}) {
  return {.subject = "CPU energy",
          .reason = std::move(reason),
          .proof = std::move(proof),
          .remedy = std::move(remedy),
          .risk = std::string(risk)};
}

SensorRefusal denied(const std::string& path, const std::string& error) {
  struct stat status {};
  const bool is_known = ::stat(path.c_str(), &status) == 0;
  const std::string proof = is_known ? fmt::format("connect to {}: {}; its mode is {:04o}", path,
                                                   error, status.st_mode & 07777U)
                                     : fmt::format("connect to {}: {}", path, error);
  SensorRefusal refused;
  if (is_known && status.st_gid == 0) {
    // Nobody is to join root's group.
    refused =
        refusal("only root may ask the daemon: its socket belongs to the group root", proof,
                "restart it for a group of users: sudo groupadd --system wattle; sudo wattled "
                "serve --socket-group wattle",
                kRaplRisk);
  } else {
    const std::string name = is_known ? group_name(status.st_gid) : "wattle";
    refused =
        refusal(fmt::format("only members of the group {} may ask the daemon", name), proof,
                fmt::format("sudo usermod -aG {} \"$USER\", and log in again", name), kRaplRisk);
  }
  refused.denied_path = path;
  return refused;
}

/// An answer that has no counters.
SensorRefusal refused_by_daemon(const Reply& reply, const std::string& path, bool has_token) {
  constexpr unsigned kUnauthorized = 401;
  constexpr unsigned kForbidden = 403;
  constexpr unsigned kNotFound = 404;
  const std::string proof =
      fmt::format("{} answers with status {}: {}", path, reply.status, printable(reply.body));
  const std::string token =
      "let WATTLE_TOKEN hold a token with the scope cpu-read (wattled token issue --scope cpu-read "
      "...)";
  switch (reply.status) {
    case kStatusOk:
      return refusal("unexpected reply from the daemon", proof,
                     "see whether WATTLE_SOCK_PATH names the socket of wattled or zeusd");
    case kUnauthorized:
      return refusal(
          has_token ? "the daemon does not take this token" : "the daemon requires a token", proof,
          token);
    case kForbidden:
      return refusal("the token does not permit to read CPUs", proof, token);
    case kNotFound:
      return refusal("the daemon does not serve CPU energy", proof,
                     "start it with the group cpu-read (wattled serve --enable gpu-read,cpu-read)");
    default:
      return refusal("the daemon cannot read the counters itself", proof,
                     "its log says why: journalctl -u wattled");
  }
}

constexpr std::chrono::seconds kProbePatience{1};

Survey refused(SensorRefusal refusal) {
  Survey survey;
  survey.refused.push_back(std::move(refusal));
  return survey;
}

bool is_package(const Domain& domain) noexcept { return domain.kind() == DomainKind::package; }

}  // namespace

SensorRefusal not_answered(const Reply& reply, const std::string& path, bool is_default,
                           bool has_token) {
  const std::string error = std::generic_category().message(reply.error);
  const std::string start = "sudo systemctl enable --now wattled.socket";
  switch (reply.outcome) {
    case RequestOutcome::answered:
      return refused_by_daemon(reply, path, has_token);
    case RequestOutcome::absent: {
      const std::string proof = fmt::format("there is no socket {}", path);
      if (!is_default) {
        return refusal(
            fmt::format("no daemon listens on {}", printable(path)), proof,
            "let WATTLE_SOCK_PATH name the daemon's socket, or start the daemon: " + start);
      }
      SensorRefusal refused = refusal("no daemon serves CPU energy on this machine", proof, start);
      refused.scope = RefusalScope::spare;
      return refused;
    }
    case RequestOutcome::deserted:
      return refusal("the daemon that served CPU energy is not running",
                     fmt::format("connect to {}: {}", path, error), start);
    case RequestOutcome::denied:
      return denied(path, error);
    case RequestOutcome::failed:
      return refusal(fmt::format("the daemon cannot be reached: {}", error), path, {});
    case RequestOutcome::silent:
      return refusal("the daemon does not answer in time", path,
                     "see what it does: systemctl status wattled");
    case RequestOutcome::hung_up:
    case RequestOutcome::garbled:
      return refusal("the socket does not belong to wattled or zeusd", path,
                     "see whether WATTLE_SOCK_PATH names the socket of wattled or zeusd");
  }
  return refusal("the daemon gives no CPU energy", path, {});
}

SensorRefusal no_cpus(const std::string& path) {
  return refusal("the daemon has no CPU whose energy it can read",
                 fmt::format("{} answers without one", path),
                 fmt::format("it says why: curl --unix-socket {} http://localhost/discover", path));
}

SensorRefusal no_path(const std::string& path) {
  return refusal("this path is too long for a socket", printable(path),
                 "let WATTLE_SOCK_PATH be at most 107 bytes");
}

SensorRefusal no_token() {
  return refusal(
      "the token for the daemon holds blanks, line ends or other characters that no "
      "token has",
      "in WATTLE_TOKEN or ZEUSD_TOKEN", "give it as it was issued");
}

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& taken) {
  const std::string path = system.daemon_socket.string();
  if (path.empty() || std::ranges::any_of(taken, is_package)) return {};
  if (path.size() > UnixAddress::kMostBytes) return refused(no_path(path));
  auto asks = question(system.daemon_token);
  if (!asks) return refused(no_token());

  auto connection = std::make_unique<DaemonConnection>(path, *std::move(asks), clock);
  const Reply reply = connection->ask(kProbePatience);
  const bool is_answer = reply.outcome == RequestOutcome::answered && reply.status == kStatusOk;
  const auto counters = is_answer ? parse_counters(reply.body) : std::nullopt;
  if (!counters) {
    const bool is_default = system.daemon_socket == System{}.daemon_socket;
    return refused(
        not_answered(reply, path, is_default, /*has_token=*/!system.daemon_token.empty()));
  }
  auto sensor = std::make_unique<DaemonSensor>(std::move(connection), *counters,
                                               list_cpu_zones(system), taken, path, clock);
  if (sensor->channels().empty()) return refused(no_cpus(path));
  Survey survey;
  survey.sensors.push_back(std::move(sensor));
  return survey;
}

}  // namespace wattle::daemon_source
