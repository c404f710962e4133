// A daemon that answers in virtual time, and the parts of a stream that follow it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/followed_server.hpp"
#include "client/power_reader.hpp"
#include "fakes/virtual_clock.hpp"
#include "wire/message_json.hpp"

namespace wattle::client_test {

using client::DeviceType;
using client::FollowedServer;
using client::RequestId;
using client::ResponseHandler;
using client::UpdateHub;
using namespace std::chrono_literals;

/// Answers as the test sets. A request without an answer stays open until its timeout.
class PlayedTransport final : public client::RequestTransport {
 public:
  struct Response {
    int status = 200;
    std::string body{};
  };
  struct Request {
    RequestId id = 0;
    std::string target;
    TimePoint started;
    std::chrono::milliseconds timeout;
    ResponseHandler* to = nullptr;
    bool has_begun = false;
  };

  explicit PlayedTransport(const TimeSource& clock) : clock_(clock) {}

  RequestId start(std::size_t /*server*/, std::string_view target,
                  const client::SendingOptions& options, ResponseHandler& to) override {
    asked.emplace_back(target);
    open_.push_back({++last_, std::string(target), clock_.now(), options.timeout, &to});
    return last_;
  }
  void cancel(RequestId id) noexcept override {
    std::erase_if(open_, [&](const Request& request) { return request.id == id; });
  }

  /// By path; empty: no answer. Absent: the server cannot be reached.
  std::function<std::optional<Response>(const std::string& path)> answer;
  bool is_reachable = true;
  std::vector<std::string> asked;

  /// Answers all that can be; true if there was something.
  bool pump() {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Request request = open_[i];
      if (!is_reachable) {
        end(request, {.failure = "Connection refused"});
        return true;
      }
      if (request.has_begun) continue;
      const auto response = answer(request.target.substr(0, request.target.find('?')));
      if (!response) {
        const bool is_over =
            request.timeout > 0ms && clock_.now() >= request.started + request.timeout;
        if (!is_over) continue;
        end(request, {.failure = "Timeout was reached"});
        return true;
      }
      open_[i].has_begun = true;
      request.to->began(response->status);
      const bool is_stream = request.timeout == 0ms && response->status == 200;
      if (!response->body.empty()) (void)request.to->received(response->body);
      if (!is_stream) end(request, {.status = response->status});
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_open(const std::string& path) const {
    return std::ranges::any_of(open_, [&](const Request& r) { return r.target.starts_with(path); });
  }
  /// False if the stream wants no more.
  [[nodiscard]] bool takes(const std::string& path, const std::string& bytes) {
    return find(path).to->received(bytes);
  }
  void send(const std::string& path, const std::string& bytes) {
    (void)find(path).to->received(bytes);
  }
  void hang_up(const std::string& path, const std::string& failure = "") {
    end(find(path), {.status = 200, .failure = failure});
  }

 private:
  Request find(const std::string& path) const {
    const auto found = std::ranges::find_if(
        open_, [&](const Request& r) { return r.target.starts_with(path) && r.has_begun; });
    if (found == open_.end()) throw std::out_of_range("no request is open of " + path);
    return *found;
  }
  void end(const Request& request, const client::RequestEnding& ending) {
    cancel(request.id);
    request.to->ended(ending);
  }

  const TimeSource& clock_;
  std::vector<Request> open_;
  RequestId last_ = 0;
};

/// One server that is followed.
class Followed {
 public:
  explicit Followed(Server of = {.endpoint = "node:1"}, bool keeps_energy = false,
                    std::chrono::milliseconds longest_reconnect_delay = 5s)
      : hub(std::make_shared<UpdateHub>(std::vector<Server>{std::move(of)},
                                        client::Delivery{.queue_limit = 1000})),
        transport(clock),
        around{.transport = transport,
               .hub = *hub,
               .timers = timers,
               .clock = clock,
               .chance = [this] { return chance; },
               .reconnect_delay = 1s,
               .longest_reconnect_delay = longest_reconnect_delay,
               .timeout = 5s,
               .book = keeps_energy ? &book : nullptr},
        server(0, around) {
    transport.answer = [this](const std::string& path) { return answer(path); };
  }

  void start() {
    around.read_clock();
    server.start();
    settle();
  }
  /// Lets time pass, and everything happen when it is due.
  void advance(std::chrono::nanoseconds time) {
    const TimePoint end = clock.at() + time;
    while (clock.at() < end) {
      // Requests time out between ticks, too.
      const TimePoint next =
          std::min({end, std::max(timers.next(), clock.at() + 1ms), clock.at() + 100ms});
      clock.advance(next - clock.at());
      settle();
    }
  }
  void settle() {
    for (;;) {
      around.read_clock();
      const bool was_asked = transport.pump();
      const bool is_due = timers.next() <= around.now;
      if (is_due) server.tick();
      hub->commit();
      if (!was_asked && !is_due) return;
    }
  }
  void send_gpu(std::uint32_t gpu, std::uint64_t mw) {
    send("/gpu/", wire::event(wire::encode_event(daemon_ms(), gpu, mw)));
  }
  void send(const std::string& path, const std::string& bytes) {
    around.read_clock();
    transport.send(path + "stream_power", bytes);
    settle();
  }
  void hang_up(const std::string& path, const std::string& failure = "") {
    around.read_clock();
    transport.hang_up(path + "stream_power", failure);
    settle();
  }
  [[nodiscard]] wire::UnixMs daemon_ms() const {
    return static_cast<wire::UnixMs>(1e3 * (to_unix(clock.at()) - offset_s));
  }
  [[nodiscard]] PowerReadings readings() const { return hub->snapshot().begin()->second; }
  [[nodiscard]] ConnectionStatus gpu() const { return readings().gpu.status; }
  [[nodiscard]] ConnectionStatus cpu() const { return readings().cpu.status; }
  [[nodiscard]] std::size_t times_asked(const std::string& target) const {
    return static_cast<std::size_t>(std::ranges::count(transport.asked, target));
  }

  std::optional<PlayedTransport::Response> answer(const std::string& path) {
    if (const auto found = answers.find(path); found != answers.end()) return found->second;
    if (path == "/discover") return {{.body = wire::encode(discovery)}};
    if (path == "/gpu/get_cumulative_energy") {
      if (!gpu_mj) return {{.status = 400}};
      return {{.body = wire::encode_gpu_energies({{0, gpu_mj()}})}};
    }
    if (path == "/cpu/get_cumulative_energy") {
      if (!cpu_uj) return {{.status = 400}};
      return {{.body = wire::encode_cpu_energies({{0, {cpu_uj(), std::nullopt, cpu_since_ms}}})}};
    }
    if (path == "/time") return {{.body = wire::encode_time(daemon_ms())}};
    if (path == "/gpu/get_power") {
      return {{.body = wire::encode(wire::GpuPowersAt{daemon_ms(), gpu_mw})}};
    }
    if (path == "/cpu/get_power") {
      return {{.body = wire::encode(wire::CpuPowersAt{daemon_ms(), cpu_mw})}};
    }
    return {{.status = 200}};
  }

  wire::Discovery discovery{.gpus = {{.id = 0}, {.id = 1}},
                            .cpus = {{.id = 0, .dram_available = true}},
                            .enabled_api_groups = {"gpu-read", "cpu-read"}};
  std::map<wire::DeviceId, std::uint64_t> gpu_mw{{0, 100'000}, {1, 200'000}};
  std::map<wire::DeviceId, wire::CpuPower> cpu_mw{{0, {50'000, 10'000}}};
  /// What energy counters show; empty: there are none.
  std::function<std::uint64_t()> gpu_mj{};
  std::function<std::uint64_t()> cpu_uj{};
  std::optional<wire::UnixMs> cpu_since_ms{};  ///< as wattled reports it
  /// Answers that are other than usual; absent: none comes.
  std::map<std::string, std::optional<PlayedTransport::Response>> answers;
  double offset_s = 0.0;  ///< this machine's clock minus the daemon's
  double chance = 0.5;

  fakes::VirtualClock clock;
  std::shared_ptr<UpdateHub> hub;
  client::Timers timers{1};
  PlayedTransport transport;
  client::StreamHistory book{10min, 1s};
  client::StreamContext around;
  FollowedServer server;
};

}  // namespace wattle::client_test
