// What the daemon answers from: devices, who may ask, what is switched on. Knows no sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access.hpp"
#include "energy_history.hpp"
#include "failure_limit.hpp"
#include "gpu_control.hpp"
#include "hub.hpp"
#include "peer.hpp"
#include "public_cpu.hpp"
#include "request_head.hpp"
#include "response.hpp"
#include "revoked.hpp"
#include "scrape.hpp"
#include "sensors/sensor.hpp"
#include "stream_rights.hpp"
#include "target.hpp"
#include "turned_away.hpp"

namespace wattle::daemon {

struct Request {
  RequestHead head;
  Target target;
  Peer peer;
  std::optional<Claims> claims{};
  std::string token_id{};  ///< of the token with these claims
  /// The caller may see the CPUs' energy rounded and rarely: see public_cpu.hpp.
  bool is_coarse = false;
};

/// One request that is to be answered, by one of these and once. Threads: the loop's.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual void answer(const Response& response) = 0;
  /// Answers with a stream; null where that cannot be, and it was said. `right`: null where none is
  /// needed.
  [[nodiscard]] virtual Subscriber* begin_stream(std::shared_ptr<const StreamRight> right) = 0;
};

struct ServiceOptions {
  std::vector<Scope> enabled{Scope::gpu_read, Scope::cpu_read};
  HubOptions hub{};
  /// See `ServeOptions`.
  std::chrono::milliseconds public_cpu_period = kPublicCpuPeriod;
  std::size_t most_streams_per_token = 1024;
  std::uint32_t most_failures_per_client = kFailuresPerClient;
  /// Tokens with audiences must name it; empty: they are refused.
  std::string audience{};
  /// From which settings of GPUs are put back; null: they stay as they were set.
  std::shared_ptr<SettingsJournal> journal{};
  /// What sets GPUs in place of their drivers; null: nothing does.
  std::shared_ptr<const CommandRunner> commands{};
};

/// What was found, for the service to take over.
struct Inventory {
  std::vector<Gpus::Gpu> gpus;
  std::vector<std::unique_ptr<Sensor>> cpu_sensors;
  std::vector<Cpus::Cpu> cpus;
  std::vector<SensorRefusal> refused;
  std::vector<Channel> channels;  ///< all that the sensors read, for /api/v1/sensors
};
/// Those of the groups that are switched on.
[[nodiscard]] Inventory take_inventory(Survey found, const std::vector<Scope>& enabled);

struct EnergyHistoryOptions {
  std::chrono::seconds kept{0};
  std::chrono::nanoseconds gpu_period{0};  ///< of the stream of GPUs
};
/// Reads all of it from now on, for what was spent in the past. Each device is still read by one
/// thread, at most as often as the fastest of all who ask: whoever has a period takes what another
/// one has read within half of it.
[[nodiscard]] std::unique_ptr<EnergyHistory> remember(Inventory& inventory,
                                                      const std::vector<Scope>& enabled,
                                                      const EnergyHistoryOptions& options,
                                                      Loop& loop, const Clock& clock);

/// Threads: the loop's.
class Service {
 public:
  Service(Inventory inventory, Loop& loop, const ServiceOptions& options);

  /// Answers, now or later.
  void handle(Request& request, const std::shared_ptr<HttpExchange>& exchange);

  /// From now on tokens are signed with it; absent: nobody needs one. Where it is another key, no
  /// stream that was opened before is good.
  void set_key(std::optional<std::string> key);
  /// From now on these tokens are no good.
  void revoke(Revoked revoked) { revoked_ = std::move(revoked); }
  [[nodiscard]] const std::optional<std::string>& key() const noexcept { return key_; }

  /// From now on what was spent can be asked for.
  void remember(std::unique_ptr<EnergyHistory> history) { history_ = std::move(history); }

  /// A stream for who asks; null where there is none, and it was said.
  [[nodiscard]] Subscriber* open_stream(const Request& request, HttpExchange& exchange);
  /// False where a stream has to end: its token is no good any more.
  [[nodiscard]] bool is_good(const StreamRight& right) const;

  /// To be called about once a second while anybody is connected.
  void tick();
  /// Logs what a client asked for and was refused, for each client not too often.
  void audit(const Peer& peer, std::string_view event);
  /// A client got no place, or lost it.
  void turn_away(TurnedAway reason) noexcept { turned_away_.count(reason); }
  [[nodiscard]] const TurnedAwayCounts& turned_away() const noexcept { return turned_away_; }
  /// A reader was too slow for a frame.
  void count_dropped() noexcept { ++dropped_; }

  // For the routes.
  [[nodiscard]] Gpus& gpus() noexcept { return gpus_; }
  [[nodiscard]] Cpus& cpus() noexcept { return cpus_; }
  [[nodiscard]] GpuControl& control() noexcept { return control_; }
  [[nodiscard]] CpuView& view(const Request& request) noexcept {
    return request.is_coarse ? coarse_ : fine_;
  }
  [[nodiscard]] GpuStream& gpu_stream() noexcept { return hub_.gpus(); }
  [[nodiscard]] CpuStream& cpu_stream(const Request& request) noexcept {
    return request.is_coarse ? hub_.coarse_cpus() : hub_.cpus();
  }
  /// It asks without a good token, although tokens are in use.
  [[nodiscard]] bool is_stranger(const Request& request) const noexcept {
    return key_.has_value() && !request.claims;
  }
  /// It may set or read what the scope is for.
  [[nodiscard]] bool grants(const Request& request, Scope scope) const noexcept;
  /// Null where nothing is remembered.
  [[nodiscard]] EnergyHistory* energy_history() const noexcept { return history_.get(); }
  [[nodiscard]] Scrape& scrape() noexcept { return scrape_; }
  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  [[nodiscard]] const ServiceOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::vector<SensorRefusal>& refused() const noexcept { return refused_; }
  [[nodiscard]] const std::vector<Channel>& channels() const noexcept { return channels_; }
  [[nodiscard]] bool is_enabled(Scope group) const noexcept;
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] TimePoint started() const noexcept { return started_; }

 private:
  /// Why the request is not answered; absent where it is, and then its claims are known.
  [[nodiscard]] std::optional<Response> denial(const Needed& needed, Request& request);

  Loop& loop_;
  ServiceOptions options_;
  std::vector<SensorRefusal> refused_;
  std::vector<Channel> channels_;
  Gpus gpus_;
  GpuControl control_;
  Cpus cpus_;
  CpuView fine_;
  CpuView coarse_;
  Hub hub_;
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
  std::unique_ptr<EnergyHistory> history_;
};

}  // namespace wattle::daemon
