#include "serve/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "api/routes.hpp"
#include "base/text/text.hpp"
#include "sensors/providers.hpp"
#include "serve/log.hpp"

namespace wattle::daemon {
namespace {

std::int64_t unix_now_s() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch())
      .count();
}

Response response_of(const Denial& denial) {
  Response response = error_response(static_cast<unsigned>(denial.status), denial.error);
  if (response.status == 401) response.challenge = kChallenge;
  return response;
}

}  // namespace

Service::Service(Inventory inventory, Loop& loop, const ServiceOptions& options)
    : loop_(loop),
      options_(options),
      refused_(std::move(inventory.refused)),
      channels_(std::move(inventory.channels)),
      gpus_(std::move(inventory.gpus), loop),
      others_(std::move(inventory.others), loop),
      control_(gpus_, loop, options.journal, options.commands),
      cpus_(std::move(inventory.cpu_sensors), inventory.cpus),
      fine_(cpus_, loop),
      coarse_(cpus_, loop, public_quantum_uj(options.public_cpu_period), options.public_cpu_period),
      gpu_stream_(gpus_, loop, options.streams),
      cpu_stream_(fine_, loop, options.streams.cpu_period, options.streams.format),
      coarse_stream_(coarse_, loop, std::max(coarse_.least_period(), options.streams.cpu_period),
                     options.streams.format),
      stream_rights_(options.most_streams_per_token),
      failures_(options.most_failures_per_client),
      audited_(options.most_failures_per_client),
      started_(loop.now()),
      scrape_(gpus_, others_, cpus_, loop) {
  cpus_.keep_counters(loop);
  scrape_.set_cpu_model(std::move(inventory.cpu_model));
  for (auto& device : inventory.followed) scrape_.follow(std::move(device));
}

void Service::set_energy_history(std::unique_ptr<EnergyHistory> history) {
  units_.reset();
  history_ = std::move(history);
  if (history_ && history_->kept() >= ServedUnits::kLeastHistory) {
    units_ = std::make_unique<ServedUnits>(*history_, loop_);
  }
}

void Service::divide_energy(SharesOptions options, bool has_strangers) {
  if (has_strangers) options.public_cpu_period = options_.public_cpu_period;
  shares_ = std::make_unique<SharedEnergy>(scrape_, gpus_, cpus_, loop_, std::move(options));
}

DomainKinds Service::missing_kinds() const {
  DomainKinds missing;
  if (is_enabled(TokenScope::gpu_read) || is_enabled(TokenScope::gpu_control)) {
    missing.add(DomainKinds::of({DomainCategory::gpu}));
  }
  if (is_enabled(TokenScope::cpu_read) && others_.ids().empty()) {
    missing.add(DomainKinds::of({DomainCategory::other}));
  }
  for (const wire::DeviceId id : gpus_.ids()) {
    missing.remove(shown_with(gpu_domain_of(gpus_.sensor(id)).kind()));
  }
  return missing;
}

void Service::add(Survey found) {
  const DomainKinds missing = missing_kinds();
  std::erase_if(found.sensors, [&](const std::unique_ptr<Sensor>& sensor) {
    return !missing.contains(sensor->channels().front().domain.kind());
  });
  std::erase_if(refused_,
                [&](const SensorRefusal& refusal) { return missing.overlaps(refusal.shows); });
  const bool has_no_gpu = gpus_.ids().empty();
  Inventory inventory = take_inventory(std::move(found), options_.enabled, {});
  std::ranges::move(inventory.refused, std::back_inserter(refused_));
  std::ranges::move(inventory.channels, std::back_inserter(channels_));
  // Those that are served keep their numbers.
  std::set<wire::DeviceId> taken(gpus_.ids().begin(), gpus_.ids().end());
  for (Gpus::Gpu& gpu : inventory.gpus) {
    if (taken.contains(gpu.entry.id)) gpu.entry.id = *taken.rbegin() + 1;
    taken.insert(gpu.entry.id);
  }
  const auto streamed = options_.streams.gpu_period;
  if (history_) add_to_history(*history_, inventory, options_.enabled, streamed);
  follow_devices(inventory, options_.enabled, streamed, machine_clock());
  for (auto& device : inventory.followed) scrape_.follow(std::move(device));
  for (Gpus::Gpu& gpu : inventory.gpus) {
    log_info(fmt::format("found GPU {}: {}", gpu.entry.id, printable(gpu.entry.name)));
    gpus_.add(std::move(gpu));
  }
  for (Gpus::Gpu& other : inventory.others) {
    log_info(fmt::format("found {}", other.sensor->channels().front().domain.name()));
    other.entry.id = static_cast<wire::DeviceId>(others_.ids().size());
    others_.add(std::move(other));
  }
  // The settings of an earlier daemon, if nobody can have set a GPU since.
  if (has_no_gpu && !gpus_.ids().empty()) control_.restore([] {});
}

bool Service::has_lost_devices() {
  // As for the energy: a counter that does not move for a moment is not lost.
  constexpr std::chrono::seconds kPatience{1};
  const auto is_lost = [&](const CounterState& state) {
    const bool has_moved = state.energy_uj > state.first_uj;
    return state.at != TimePoint{} && !reason_of(state, kPatience).empty() &&
           (!state.is_known || has_moved);
  };
  const CpuStates cpus = cpus_.read(cpus_.all_ids());
  return gpus_.fail() || scrape_.lacks_others() || std::ranges::any_of(cpus, [&](const auto& cpu) {
           return is_lost(cpu.second.cpu) || (cpu.second.dram && is_lost(*cpu.second.dram));
         });
}

bool Service::is_enabled(TokenScope group) const noexcept {
  return std::ranges::count(options_.enabled, group) > 0;
}

bool Service::grants(const Request& request, TokenScope scope) const noexcept {
  if (!is_enabled(scope) || lacks_token(request)) return false;
  if (request.claims) return daemon::grants(*request.claims, scope);
  return scope != TokenScope::gpu_control || request.peer.is_local_socket;
}

void Service::set_key(std::optional<std::string> key) {
  if (key != key_) ++key_number_;
  key_ = std::move(key);
}

Subscriber* Service::open_stream(const Request& request, HttpExchange& exchange) {
  if (!request.claims) return exchange.begin_stream(nullptr);
  auto right = stream_rights_.open({.token_id = request.token_id,
                                    .subject = request.claims->subject,
                                    .expires_unix_s = request.claims->expires_unix_s,
                                    .key_number = key_number_});
  if (right) return exchange.begin_stream(std::move(right));
  turn_away(TurnedAway::token);
  exchange.answer(error_response(429, "Too many streams of this token."));
  return nullptr;
}

bool Service::is_good(const StreamRight& right) const {
  const bool has_expired = right.expires_unix_s && is_past(*right.expires_unix_s, unix_now_s());
  return right.key_number == key_number_ && !has_expired &&
         !revoked_.contains(right.token_id, right.subject);
}

void Service::audit(const Peer& peer, std::string_view event) {
  if (audited_.admit(peer.client, loop_.now())) {
    log_warning(fmt::format("{} {}", peer.name, event));
  }
}

void Service::tick() {
  const TimePoint now = loop_.now();
  gpu_stream_.stream().keep_alive(now);
  cpu_stream_.stream().keep_alive(now);
  coarse_stream_.stream().keep_alive(now);
  if (const std::uint64_t more = audited_.take_suppressed(); more > 0) {
    log_warning(fmt::format("{} more requests were refused", more));
  }
  if (const auto news = turned_away_.news(now)) log_warning(*news);
  if (const std::uint64_t more = failures_.take_suppressed(); more > 0) {
    log_warning(fmt::format("{} more attempts without a good token were refused", more));
  }
}

std::optional<Response> Service::denial(const RouteRequirement& needed, Request& request) {
  const TokenScope* const scope = std::get_if<TokenScope>(&needed);
  if (scope != nullptr && !is_enabled(*scope)) {
    if (*scope == TokenScope::gpu_control) audit(request.peer, "tried to control GPUs");
    return response_of(group_disabled(*scope));
  }
  if (!key_) {
    if (needed == RouteRequirement(RouteAccess::token_if_key_is_set))
      return response_of(authentication_disabled());
    if (scope == nullptr || *scope != TokenScope::gpu_control || request.peer.is_local_socket) {
      return std::nullopt;
    }
    // All local users may read through a loopback port, but not set GPUs.
    audit(request.peer, "tried to control GPUs through TCP without a token");
    return response_of(control_needs_key());
  }
  const auto& header = request.head.authorization;
  auto checked = authenticate(header ? std::optional<std::string_view>(*header) : std::nullopt,
                              *key_, unix_now_s(), options_.audience);
  std::string id;
  if (const auto* const claims = std::get_if<Claims>(&checked)) {
    id = token_id(bearer_token(*header));
    if (revoked_.contains(id, claims->subject)) checked = token_refused();
  }
  const Denial* const found = std::get_if<Denial>(&checked);
  // A caller without a token gets a shorter answer.
  if (found != nullptr && needed == RouteRequirement(RouteAccess::everybody)) return std::nullopt;
  if (found != nullptr) {
    if (failures_.admit(request.peer.client, loop_.now())) {
      log_warning(fmt::format("{} was refused: {}", request.peer.name, found->error));
      return response_of(*found);
    }
    return response_of(too_many_failures());
  }
  request.claims = std::get<Claims>(std::move(checked));
  request.token_id = std::move(id);
  std::vector<TokenScope> scopes;
  if (scope != nullptr) scopes.push_back(*scope);
  if (needed == RouteRequirement(RouteAccess::all_reading_scopes)) {
    scopes = options_.enabled;
    std::erase(scopes, TokenScope::gpu_control);
  }
  for (const TokenScope each : scopes) {
    const auto lacking = authorize(*request.claims, each);
    if (!lacking) continue;
    // Does not log the subject: the signer of the token chose it.
    audit(request.peer, fmt::format("was refused: its token {} lacks the scope {}",
                                    request.token_id, name_of(each)));
    return response_of(*lacking);
  }
  return std::nullopt;
}

void Service::handle(Request& request, const std::shared_ptr<HttpExchange>& exchange) {
  if (const auto refusal = denial(requirement_of(request.target.path), request)) {
    return exchange->answer(*refusal);
  }
  const Route* const route = find_route(request.target.path);
  // A HEAD is answered as a GET, without the body (RFC 9110, 9.3.2).
  std::string_view method = request.head.method;
  if (method == "HEAD") method = "GET";
  if (route == nullptr) {
    return exchange->answer(error_response(404, "There is no such path on this server."));
  }
  if (route->method != method) {
    return exchange->answer(
        error_response(404, fmt::format("This path takes {} requests only.", route->method)));
  }
  const bool is_limited = options_.public_cpu_period.count() > 0;
  request.is_coarse = is_limited && !key_ && !request.peer.is_local_socket;
  try {
    route->handle(*this, request, exchange);
  } catch (const QueryFault& fault) {
    exchange->answer(response_of(fault));
  }
}

}  // namespace wattle::daemon
