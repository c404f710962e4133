// Answers requests: devices, permissions, enabled groups. Independent of sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/compat_metrics.hpp"
#include "api/energy_answer.hpp"
#include "api/metrics_cache.hpp"
#include "api/power_streams.hpp"
#include "api/public_cpu.hpp"
#include "api/scrape.hpp"
#include "auth/access.hpp"
#include "auth/failure_limit.hpp"
#include "auth/revoked.hpp"
#include "auth/stream_rights.hpp"
#include "control/gpu_control.hpp"
#include "devices/energy_history.hpp"
#include "devices/inventory.hpp"
#include "devices/served_units.hpp"
#include "http/peer.hpp"
#include "http/request_head.hpp"
#include "http/response.hpp"
#include "http/target.hpp"
#include "http/turned_away.hpp"
#include "sensors/sensor.hpp"
#include "serve/page_options.hpp"
#include "shares/shared_energy.hpp"

namespace wattle::daemon {

struct Request {
  RequestHead head;
  Target target;
  Peer peer;
  std::optional<Claims> claims{};
  std::string token_id{};  ///< of the token with these claims
  /// The caller sees CPU energy rounded and rarely: see public_cpu.hpp.
  bool is_coarse = false;
};

/// One request. Exactly one of these is called, once. Threads: the loop's.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual void answer(const Response& response) = 0;
  /// Answers with a stream. Null: not possible, and the client has got an error. `right`: null:
  /// none is needed.
  [[nodiscard]] virtual Subscriber* begin_stream(std::shared_ptr<const StreamRight> right) = 0;
};

/// The answers and who gets them, as the administrator chose it.
struct OfferOptions {
  std::vector<TokenScope> enabled{TokenScope::gpu_read, TokenScope::cpu_read};
  bool serves_dashboard = false;  ///< a page for browsers at /
  PageOptions pages{};
  std::vector<Exporter> compat_metrics{};  ///< whose names /metrics serves, too
  /// The period of CPU readings for TCP clients if the daemon has no signing key. Energies are
  /// rounded to 1 J per second of it. 0: no limit.
  std::chrono::milliseconds public_cpu_period = kPublicCpuPeriod;
  std::uint32_t most_failures_per_client = kFailuresPerClient;  ///< at once, to authenticate
  /// The audience that tokens must name if they name any; empty: tokens with audiences are refused.
  std::string audience{};
};

struct ServiceOptions : OfferOptions {
  std::string host{};  ///< the name of this machine; empty: not known
  StreamRates streams{};
  std::size_t most_streams_per_token = 1024;
  /// The journal from which GPU settings are restored; null: they stay.
  std::shared_ptr<SettingsJournal> journal{};
  /// The commands that set GPUs instead of their drivers; null: none.
  std::shared_ptr<const CommandRunner> commands{};
};

struct EnergyHistoryOptions {
  std::chrono::seconds kept{0};
  std::chrono::nanoseconds gpu_period{0};  ///< of the stream of GPUs
};
/// Starts the energy history of all CPUs and GPUs. It reads GPUs as often as their fastest reader:
/// each takes readings of the others that are newer than half its period.
[[nodiscard]] std::unique_ptr<EnergyHistory> start_energy_history(
    Inventory& inventory, const std::vector<TokenScope>& enabled,
    const EnergyHistoryOptions& options, Loop& loop, const TimeSource& clock);

/// Adds the GPUs of an inventory to the history. `streamed`: the period of the stream of GPUs.
void add_to_history(EnergyHistory& history, Inventory& inventory,
                    const std::vector<TokenScope>& enabled, std::chrono::nanoseconds streamed);

/// Has the energy that no counter shows kept for scrapes: of GPUs without one, and of the others.
/// After `start_energy_history`, if there is one. `clock` outlives their threads.
void follow_devices(Inventory& inventory, const std::vector<TokenScope>& enabled,
                    std::chrono::nanoseconds streamed, const TimeSource& clock);

/// Threads: the loop's.
class Service {
 public:
  Service(Inventory inventory, Loop& loop, const ServiceOptions& options);

  /// Answers the request, at once or later.
  void handle(Request& request, const std::shared_ptr<HttpExchange>& exchange);

  /// Sets the signing key; absent: no token is needed. A different key ends the streams that were
  /// opened before.
  void set_key(std::optional<std::string> key);
  /// Replaces the list of revoked tokens.
  void revoke(Revoked revoked) { revoked_ = std::move(revoked); }
  [[nodiscard]] const std::optional<std::string>& key() const noexcept { return key_; }

  /// Enables requests for the energy of past windows, and of units of work.
  void set_energy_history(std::unique_ptr<EnergyHistory> history);

  /// Divides energy among groups of processes from now on. `has_strangers`: some callers see CPU
  /// energy rounded.
  void divide_energy(SharesOptions options, bool has_strangers);

  /// The kinds without a served device, though their groups are enabled.
  [[nodiscard]] DomainKinds missing_kinds() const;
  /// Serves what was found of such kinds after the start, and takes over the reasons for the rest.
  void add(Survey found);
  /// True if something that was served cannot be read now.
  [[nodiscard]] bool has_lost_devices();

  /// Opens a stream for the caller. Null: not possible, and the client has got an error.
  [[nodiscard]] Subscriber* open_stream(const Request& request, HttpExchange& exchange);
  /// False: the stream has to end, since its token is no longer valid.
  [[nodiscard]] bool is_good(const StreamRight& right) const;

  /// Call it about once per second while clients are connected.
  void tick();
  /// Logs a refused request or a change; limits the lines per client.
  void audit(const Peer& peer, std::string_view event);
  /// Counts a client that got no place, or lost it.
  void turn_away(TurnedAway reason) noexcept { turned_away_.count(reason); }
  [[nodiscard]] const TurnedAwayCounts& turned_away() const noexcept { return turned_away_; }
  /// Counts a frame that a reader was too slow for.
  void count_dropped() noexcept { ++dropped_; }

  // For the routes.
  [[nodiscard]] Gpus& gpus() noexcept { return gpus_; }
  [[nodiscard]] Cpus& cpus() noexcept { return cpus_; }
  [[nodiscard]] GpuControl& control() noexcept { return control_; }
  [[nodiscard]] CpuView& view(const Request& request) noexcept {
    return request.is_coarse ? coarse_ : fine_;
  }
  /// Without rounding: for what the daemon's owner receives.
  [[nodiscard]] CpuView& fine_view() noexcept { return fine_; }
  [[nodiscard]] GpuStream& gpu_stream() noexcept { return gpu_stream_; }
  [[nodiscard]] CpuStream& cpu_stream(const Request& request) noexcept {
    return request.is_coarse ? coarse_stream_ : cpu_stream_;
  }
  /// The daemon has a signing key, and the request has no valid token.
  [[nodiscard]] bool lacks_token(const Request& request) const noexcept {
    return key_.has_value() && !request.claims;
  }
  /// True if the caller may use `scope`.
  [[nodiscard]] bool grants(const Request& request, TokenScope scope) const noexcept;
  /// Null: no history is kept.
  [[nodiscard]] EnergyHistory* energy_history() const noexcept { return history_.get(); }
  /// Null: no history is kept, or one that is too short for them.
  [[nodiscard]] ServedUnits* units() const noexcept { return units_.get(); }
  /// Null: no energy is divided among groups of processes.
  [[nodiscard]] const SharedEnergy* shares() const noexcept { return shares_.get(); }
  [[nodiscard]] Scrape& scrape() noexcept { return scrape_; }
  [[nodiscard]] MetricsCache& metrics_cache() noexcept { return metrics_cache_; }
  [[nodiscard]] EnergyCache& energy_cache() noexcept { return energy_cache_; }
  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  [[nodiscard]] const ServiceOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::vector<SensorRefusal>& refused() const noexcept { return refused_; }
  [[nodiscard]] const std::vector<Channel>& channels() const noexcept { return channels_; }
  [[nodiscard]] bool is_enabled(TokenScope group) const noexcept;
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] TimePoint started() const noexcept { return started_; }

 private:
  /// The refusal of the request; absent: it is permitted, and its claims are set.
  [[nodiscard]] std::optional<Response> denial(const RouteRequirement& needed, Request& request);

  Loop& loop_;
  ServiceOptions options_;
  std::vector<SensorRefusal> refused_;
  std::vector<Channel> channels_;
  Gpus gpus_;
  Gpus others_;
  GpuControl control_;
  Cpus cpus_;
  CpuView fine_;
  CpuView coarse_;
  GpuStream gpu_stream_;
  CpuStream cpu_stream_;
  CpuStream coarse_stream_;
  std::optional<std::string> key_;
  std::uint64_t key_number_ = 0;
  Revoked revoked_;
  StreamRights stream_rights_;
  FailureLimit failures_;
  FailureLimit audited_;
  TurnedAwayCounts turned_away_;
  std::uint64_t dropped_ = 0;
  TimePoint started_;
  Scrape scrape_;
  MetricsCache metrics_cache_;
  EnergyCache energy_cache_{16};  // pages ask for the same windows
  std::unique_ptr<EnergyHistory> history_;
  std::unique_ptr<ServedUnits> units_;  ///< reads the history
  std::unique_ptr<SharedEnergy> shares_;
};

}  // namespace wattle::daemon
