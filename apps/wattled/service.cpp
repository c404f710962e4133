#include "service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "log.hpp"
#include "routes.hpp"

namespace wattle::daemon {
namespace {

/// What is shown to whoever has neither a token nor the socket's group: too coarse to tell what
/// other people's programs do.
constexpr std::uint64_t kCoarseUj = 1'000'000;
constexpr std::chrono::seconds kCoarsePeriod{1};

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
      cpus_(std::move(inventory.cpu_sensors), inventory.cpus),
      fine_(cpus_, loop),
      coarse_(cpus_, loop, kCoarseUj, kCoarsePeriod),
      hub_(gpus_, cpus_, fine_, coarse_, loop, options.hub),
      started_(loop.now()),
      scrape_(gpus_, cpus_, started_) {}

bool Service::is_enabled(Scope group) const noexcept {
  // Nothing can be controlled in this version.
  return group != Scope::gpu_control && std::ranges::count(options_.enabled, group) > 0;
}

void Service::tick() {
  hub_.keep_alive();
  if (const std::uint64_t more = failures_.take_suppressed(); more > 0) {
    log_warning(fmt::format("{} more attempts without a good token were refused", more));
  }
}

std::optional<Response> Service::denial(const Needed& needed, Request& request) {
  const Scope* const scope = std::get_if<Scope>(&needed);
  if (scope != nullptr && !is_enabled(*scope)) return response_of(group_disabled(*scope));
  if (!key_) {
    if (needed == Needed(Open::where_keys_are)) return response_of(authentication_disabled());
    return std::nullopt;
  }
  if (needed == Needed(Open::everybody)) return std::nullopt;
  const auto& header = request.head.authorization;
  auto checked = authenticate(header ? std::optional<std::string_view>(*header) : std::nullopt,
                              *key_, unix_now_s());
  if (const Denial* const found = std::get_if<Denial>(&checked)) {
    if (failures_.admit(request.peer.name, loop_.now())) {
      log_warning(fmt::format("{} was refused: {}", request.peer.name, found->error));
      return response_of(*found);
    }
    return response_of(too_many_failures());
  }
  request.claims = std::get<Claims>(std::move(checked));
  std::vector<Scope> scopes;
  if (scope != nullptr) scopes.push_back(*scope);
  if (needed == Needed(Open::who_reads_all)) scopes = options_.enabled;
  for (const Scope each : scopes) {
    if (const auto found = authorize(*request.claims, each)) return response_of(*found);
  }
  return std::nullopt;
}

void Service::handle(Request& request, const std::shared_ptr<Exchange>& exchange) {
  if (const auto refusal = denial(needed_for(request.target.path), request)) {
    exchange->answer(*refusal);
    return;
  }
  const Route* const route = find_route(request.target.path);
  if (route == nullptr || route->method != request.head.method || route->handle == nullptr) {
    exchange->answer({.status = 404});
    return;
  }
  request.is_coarse = !key_ && !request.peer.is_local_socket;
  route->handle(*this, request, exchange);
}

}  // namespace wattle::daemon
