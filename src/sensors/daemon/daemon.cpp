#include "sensors/daemon/daemon.hpp"

#include <algorithm>
#include <utility>

#include "sensors/daemon/daemon_sensor.hpp"
#include "sensors/daemon/diagnosis.hpp"

namespace wattle::daemon_source {
namespace {

constexpr std::chrono::seconds kProbePatience{1};

Survey refused(SensorRefusal refusal) {
  Survey survey;
  survey.refused.push_back(std::move(refusal));
  return survey;
}

bool is_package(const Domain& domain) noexcept { return domain.kind() == DomainKind::package; }

}  // namespace

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
