#include "client/followed_server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "client/connection_words.hpp"
#include "wire/message_json.hpp"

namespace wattle::client {
namespace {

std::string_view word_of(DeviceType type) noexcept {
  return type == DeviceType::gpu ? "gpu" : "cpu";
}
std::string_view name_of(DeviceType type) noexcept {
  return type == DeviceType::gpu ? "GPU" : "CPU";
}

bool contains(const auto& list, const auto& item) {
  return std::ranges::find(list, item) != list.end();
}

std::vector<DeviceId> ids_of(const auto& entries) {
  std::vector<DeviceId> ids;
  ids.reserve(entries.size());
  for (const auto& entry : entries) ids.push_back(entry.id);
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  return ids;
}

wire::DevicePower power_of(DeviceId id, std::uint64_t gpu_mw) {
  return {.id = id, .power_mw = static_cast<double>(gpu_mw)};
}

wire::DevicePower power_of(DeviceId id, const wire::CpuPower& power) {
  wire::DevicePower known = power_of(id, power.cpu_mw);
  if (power.dram_mw) known.dram_mw = static_cast<double>(*power.dram_mw);
  return known;
}

/// Passes the powers of a single answer to the stream, as an event.
template <class Power>
void seed(FollowedStream& stream, const wire::Decoded<wire::PowersAt<Power>>& decoded) {
  const auto* const powers = std::get_if<wire::PowersAt<Power>>(&decoded);
  if (powers == nullptr) return;
  std::vector<wire::DevicePower> devices;
  devices.reserve(powers->powers.size());
  for (const auto& [id, power] : powers->powers) devices.push_back(power_of(id, power));
  stream.seed({.timestamp_ms = static_cast<double>(powers->timestamp_ms), .devices = devices});
}

}  // namespace

FollowedServer::FollowedServer(std::size_t place, StreamContext& around)
    : place_(place),
      server_(around.hub.servers()[place]),
      context_(around),
      inquiry_(place, around.transport, around.clock, around.timeout),
      streams_{FollowedStream(place, DeviceType::gpu, around),
               FollowedStream(place, DeviceType::cpu, around)},
      counters_(place, around) {}

bool FollowedServer::wants(DeviceType type) const noexcept {
  const auto& asked = type == DeviceType::gpu ? server_.gpu_indices : server_.cpu_indices;
  return !asked || !asked->empty();
}

bool FollowedServer::has_streams() const noexcept {
  if (progress_ == ServerProgress::asking) return true;
  return std::ranges::any_of(streams_, [](const FollowedStream& stream) {
    return stream.phase() != Phase::idle && stream.phase() != Phase::denied;
  });
}

void FollowedServer::start() {
  for (FollowedStream& stream : streams_) {
    if (wants(stream.type())) {
      stream.expect();
    } else {
      stream.turn_off("not asked for");
    }
  }
  set_up();
}

void FollowedServer::end() {
  for (FollowedStream& stream : streams_) stream.end();
}

void FollowedServer::note_trouble(Trouble::TroubleKind kind, const std::string& what) {
  if (trouble_) return;
  trouble_ = {.kind = kind, .what = printable(server_.endpoint) + ": " + what};
}

// Finding what is served

void FollowedServer::set_up() {
  sets_up_ = true;
  identity_.reset();
  token_trouble_.clear();
  inquiry_.ask("/discover", [this](const InquiryAnswer& answer) { take_discovery(answer); });
}

void FollowedServer::fail_set_up(const std::string& reason, bool is_answered) {
  sets_up_ = false;
  if (!std::exchange(is_reported_, true)) {
    log(cannot_reach(printable(server_.endpoint), reason));
  }
  for (FollowedStream& stream : streams_) {
    const bool is_asked_for = stream.phase() == Phase::idle || stream.waits();
    if (wants(stream.type()) && is_asked_for && stream.retry_at() <= context_.now) {
      stream.lose(reason, is_answered);
    }
  }
  if (progress_ == ServerProgress::asking) {
    progress_ = ServerProgress::failed;
    note_trouble(Trouble::TroubleKind::connection, reason);
  }
}

template <class Value>
std::optional<Value> FollowedServer::take(std::string_view path, const InquiryAnswer& answer,
                                          wire::Decoded<Value> (*decode)(std::string_view)) {
  if (!answer.is_good()) {
    const bool is_answered = answer.failure.empty();
    fail_set_up(is_answered ? fmt::format("{}: {}", path, answer.reason()) : answer.reason(),
                is_answered);
    return std::nullopt;
  }
  auto decoded = decode(answer.body);
  if (auto* const value = std::get_if<Value>(&decoded)) return std::move(*value);
  fail_set_up(fmt::format("{}: {}", path, std::get<wire::Malformed>(decoded).why));
  return std::nullopt;
}

void FollowedServer::take_discovery(const InquiryAnswer& answer) {
  auto taken = take("/discover", answer, wire::decode_discovery);
  if (!taken) return;
  discovery_ = *std::move(taken);
  if (std::max(discovery_.gpus.size(), discovery_.cpus.size()) > kMostDevices) {
    return fail_set_up("/discover: names more devices than a machine has");
  }
  if (!discovery_.auth_required) return decide();
  if (server_.token.empty()) {
    token_trouble_ = "the daemon requires a token";
    return decide();
  }
  inquiry_.ask("/auth/whoami", [this](const InquiryAnswer& identity) { take_identity(identity); });
}

void FollowedServer::take_identity(const InquiryAnswer& answer) {
  if (answer.failure.empty() && (answer.status == 401 || answer.status == 403)) {
    token_trouble_ = "the token is not accepted: " + answer.reason();
    return decide();
  }
  identity_ = take("/auth/whoami", answer, wire::decode_identity);
  if (identity_) decide();
}

void FollowedServer::decide() {
  is_reported_ = false;  // the next outage is news
  report_cpu_limit();
  const auto domains_of = [](const auto& entries) {
    UpdateHub::Domains domains;
    for (const auto& entry : entries) {
      if (!entry.domain.empty()) domains[entry.id] = entry.domain;
    }
    return domains;
  };
  context_.hub.set_domains(place_, domains_of(discovery_.gpus), domains_of(discovery_.cpus));
  decide_on(streams_[0], ids_of(discovery_.gpus));
  decide_on(streams_[1], ids_of(discovery_.cpus));
  discovery_ = {};
  identity_.reset();
  if (progress_ != ServerProgress::settled) progress_ = ServerProgress::reached;
  if (std::ranges::find(is_served_, true) == is_served_.end()) return open_streams();
  compare_clocks(kRoundTrips, [this] { open_streams(); });
}

void FollowedServer::report_cpu_limit() {
  if (!discovery_.cpu_limit || !wants(DeviceType::cpu)) return;
  if (std::exchange(is_cpu_limit_reported_, true)) return;
  log(fmt::format("{}: {}", printable(server_.endpoint), to_string(*discovery_.cpu_limit)));
}

/// Why powers of that type cannot be read; empty: they can.
std::string FollowedServer::refusal_of(DeviceType type, Trouble::TroubleKind& kind) const {
  const std::string scope = std::string(word_of(type)) + "-read";
  kind = Trouble::TroubleKind::scope;
  if (!contains(discovery_.enabled_api_groups, scope)) {
    return fmt::format("the daemon does not serve {} power ({} is not enabled)", name_of(type),
                       scope);
  }
  if (!token_trouble_.empty()) {
    kind = Trouble::TroubleKind::token;
    return token_trouble_;
  }
  if (identity_ && !contains(identity_->scopes, scope)) {
    return "the token does not permit " + scope;
  }
  return {};
}

void FollowedServer::decide_on(FollowedStream& stream, const std::vector<DeviceId>& served) {
  const DeviceType type = stream.type();
  const bool is_taken = stream.phase() == Phase::open || stream.phase() == Phase::opening;
  bool& is_served = is_served_.at(static_cast<std::size_t>(type));
  is_served = false;
  // The daemon answers: waiting streams can retry now.
  if (!wants(type) || is_taken) return;

  const auto& asked = type == DeviceType::gpu ? server_.gpu_indices : server_.cpu_indices;
  Trouble::TroubleKind kind{};
  if (const std::string refusal = refusal_of(type, kind); !refusal.empty()) {
    if (asked) note_trouble(kind, refusal);
    return stream.deny(refusal);
  }
  if (asked) {
    for (const DeviceId id : *asked) {
      if (contains(served, id)) continue;
      const std::string missing = fmt::format("{} {} is not served; there are: [{}]", name_of(type),
                                              id, fmt::join(served, ", "));
      note_trouble(Trouble::TroubleKind::device, missing);
      return stream.lose(missing);
    }
  }
  stream.serve(asked.value_or(served));
  counters_.expect(type);
  is_served = !served.empty();
  if (served.empty()) {
    stream.turn_off(fmt::format("the daemon serves no {}", name_of(type)));
  }
}

// The clock

void FollowedServer::compare_clocks(int left, std::function<void()> then) {
  if (left == kRoundTrips) {
    best_round_trip_ = {};
    compares_clocks_ = true;
  }
  inquiry_.ask("/time",
               [this, left, then = std::move(then)](const InquiryAnswer& answer) mutable {
                 bool is_compared = false;
                 if (answer.is_good()) {
                   const auto decoded = wire::decode_time(answer.body);
                   if (const auto* time = std::get_if<wire::UnixMs>(&decoded)) {
                     const ClockOffset offset = ClockOffset::of(to_unix(answer.sent_at),
                                                                to_unix(answer.received_at), *time);
                     if (offset.uncertainty_s < best_round_trip_.uncertainty_s)
                       best_round_trip_ = offset;
                     is_compared = true;
                     note_sign_of_life();
                   }
                 }
                 if (is_compared && left > 1) return compare_clocks(left - 1, std::move(then));
                 compares_clocks_ = false;
                 note_compared();
                 if (std::isfinite(best_round_trip_.uncertainty_s)) {
                   for (FollowedStream& stream : streams_) stream.set_clock(best_round_trip_);
                   context_.hub.set_clock(place_, best_round_trip_);
                 }
                 if (then) then();
               },
               {.is_last = left == 1 && !sets_up_});
}

/// Where a comparison ends no doubt, such as at a daemon without a clock, the next one is later.
void FollowedServer::note_compared() {
  const bool is_doubted = std::exchange(is_clock_doubted_, false);
  clock_pause_ = is_doubted ? std::min(2 * clock_pause_, kLongestClockPause) : kClockPause;
  clock_compared_ = context_.now;
  clock_due_ = context_.now + kClockPeriod;
}

// The streams

std::string FollowedServer::target_of(const FollowedStream& stream, std::string_view what) const {
  const std::string_view word = word_of(stream.type());
  const auto& asked = stream.type() == DeviceType::gpu ? server_.gpu_indices : server_.cpu_indices;
  std::string target = fmt::format("/{}/{}", word, what);
  if (asked) target += fmt::format("?{}_ids={}", word, fmt::join(*asked, ","));
  return target;
}

void FollowedServer::open_streams() {
  sets_up_ = false;
  for (FollowedStream& stream : streams_) {
    if (is_served_.at(static_cast<std::size_t>(stream.type()))) {
      stream.open(target_of(stream, "stream_power"));
    }
  }
  context_.timers.set_at_latest(place_, context_.now);
}

void FollowedServer::ask_seed(FollowedStream& stream) {
  stream.note_seeded();
  ++seeds_asked_;
  inquiry_.ask(target_of(stream, "get_power"),
               [this, &stream](const InquiryAnswer& answer) {
                 --seeds_asked_;
                 // Without an answer, the stream sends the powers when they change.
                 if (answer.is_good() && stream.type() == DeviceType::gpu) {
                   seed(stream, wire::decode_gpu_powers(answer.body));
                 } else if (answer.is_good()) {
                   seed(stream, wire::decode_cpu_powers(answer.body));
                 }
                 check_settled();
               },
               {.is_last = true});
}

// Timing of requests

void FollowedServer::check_settled() {
  if (progress_ != ServerProgress::reached || sets_up_ || seeds_asked_ > 0) return;
  const bool is_on_its_way = std::ranges::any_of(streams_, [](const FollowedStream& stream) {
    return stream.phase() == Phase::opening || stream.needs_seed();
  });
  if (!is_on_its_way) progress_ = ServerProgress::settled;
}

void FollowedServer::note_sign_of_life() {
  for (FollowedStream& stream : streams_) stream.note_sign();
}

void FollowedServer::request_sign_of_life() {
  requests_sign_of_life_ = true;
  inquiry_.ask("/time", [this](const InquiryAnswer& answer) {
    requests_sign_of_life_ = false;
    if (answer.is_good()) note_sign_of_life();
  });
}

TimePoint FollowedServer::tick_stream(FollowedStream& stream, bool may_count) {
  stream.check();
  if (stream.needs_seed()) ask_seed(stream);
  if (stream.take_doubt()) {
    is_clock_doubted_ = true;
    clock_due_ = std::min(clock_due_, clock_compared_ + clock_pause_);
  }
  TimePoint due = TimePoint::max();
  if (stream.phase() == Phase::open) {
    if (may_count && counters_.is_due(stream.type())) {
      counters_.ask(stream, target_of(stream, "get_cumulative_energy"));
    }
    due = counters_.due(stream.type());
  }
  if (stream.waits()) due = stream.retry_at();
  return due > context_.now ? due : TimePoint::max();
}

void FollowedServer::tick() {
  bool is_followed = false;
  bool is_silent = false;
  TimePoint due = TimePoint::max();
  bool has_retry = false;
  // Does not repeat a request that is in progress.
  const bool may_count = counters_.is_idle();
  for (FollowedStream& stream : streams_) {
    due = std::min(due, tick_stream(stream, may_count));
    const bool is_open = stream.phase() == Phase::open;
    is_followed |= is_open || stream.phase() == Phase::opening;
    is_silent |= is_open && context_.now - stream.last_sign() >= kLifePeriod;
    has_retry |= stream.waits() && stream.retry_at() <= context_.now;
  }
  if (is_followed) due = std::min(due, context_.now + kLifePeriod);
  if (has_retry && !sets_up_) set_up();
  if (is_silent && !requests_sign_of_life_ && !compares_clocks_) request_sign_of_life();
  const bool is_compared = sets_up_ || compares_clocks_ || !is_followed;
  if (!is_compared && context_.now >= clock_due_) compare_clocks(kRoundTrips, nullptr);
  check_settled();
  context_.timers.set(place_, due);
}

}  // namespace wattle::client
