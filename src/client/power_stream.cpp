#include "wattle/power_stream.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <set>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "client/engine.hpp"
#include "client/power_reader.hpp"

namespace wattle {
namespace {

using client::Engine;
using client::Trouble;
using client::UpdateHub;
using std::chrono::milliseconds;

void check_indices(const Server& server, const std::optional<std::vector<std::uint32_t>>& indices) {
  if (!indices) return;
  const std::set<std::uint32_t> different(indices->begin(), indices->end());
  if (different.size() != indices->size()) {
    throw InvalidArgument("cannot stream from " + printable(server.endpoint) +
                          ": a device is asked for twice");
  }
}

bool asks_for_nothing(const Server& server) noexcept {
  const auto is_none = [](const auto& indices) { return indices && indices->empty(); };
  return is_none(server.gpu_indices) && is_none(server.cpu_indices);
}

void check_servers(const std::vector<Server>& servers) {
  // A reader of such a stream would wait for ever.
  if (std::ranges::all_of(servers, asks_for_nothing)) {
    throw InvalidArgument(servers.empty() ? "cannot stream: no server is named"
                                          : "cannot stream: no server is asked for any device");
  }
  std::set<std::string> endpoints;
  for (const Server& server : servers) {
    if (!endpoints.insert(server.endpoint).second) {
      throw InvalidArgument("cannot stream from " + printable(server.endpoint) +
                            " twice: name each server once");
    }
    check_indices(server, server.gpu_indices);
    check_indices(server, server.cpu_indices);
  }
}

void check_range(std::string_view option, milliseconds value, milliseconds least,
                 milliseconds most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(std::string(option) + " must lie between " + std::to_string(least.count()) +
                        " and " + std::to_string(most.count()) + " ms; it is " +
                        std::to_string(value.count()) + " ms");
}

void check_options(const PowerStreamOptions& options) {
  using namespace std::chrono_literals;
  check_range("reconnect_delay", options.reconnect_delay, 1ms, 1h);
  check_range("longest_reconnect_delay", options.longest_reconnect_delay, 0ms, 1h);
  check_range("timeout", options.timeout, 1ms, 1min);
  check_range("counter_period", options.counter_period, 10ms, 1min);
  check_range("history", options.history, 0ms, std::chrono::days(7));
  if (options.queue_limit == 0) throw InvalidArgument("queue_limit must be at least 1");
}

[[noreturn]] void throw_for(const Trouble& trouble) {
  const std::string message = "cannot stream from " + trouble.what;
  switch (trouble.kind) {
    case Trouble::TroubleKind::token:
      throw AuthError(message);
    case Trouble::TroubleKind::scope:
      throw CapabilityError(message);
    case Trouble::TroubleKind::device:
      throw NoSuchDevice(message);
    case Trouble::TroubleKind::connection:
      break;
  }
  throw ConnectionError(message);
}

}  // namespace

std::string_view to_string(ConnectionStatus status) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {"off",   "connecting", "live",
                                                      "stale", "denied",     "gone"};
  static_assert(static_cast<std::size_t>(ConnectionStatus::gone) == kNames.size() - 1);
  return entry_of(kNames, status);
}

/// Threads: as `PowerStream`.
class PowerStream::Impl {
 public:
  Impl(std::vector<Server> servers, PowerStreamOptions options)
      : hub_(std::make_shared<UpdateHub>(
            std::move(servers), client::Delivery{.queue_limit = options.queue_limit,
                                                 .on_update = std::move(options.on_update),
                                                 .executor = std::move(options.executor)})),
        book_(options.history.count() > 0
                  ? std::make_shared<client::StreamHistory>(options.history, options.counter_period)
                  : nullptr),
        engine_(std::make_shared<Engine>(
            hub_, Engine::Options{.reconnect_delay = options.reconnect_delay,
                                  .longest_reconnect_delay = options.longest_reconnect_delay,
                                  .timeout = options.timeout,
                                  .book = book_})) {}

  void start(milliseconds timeout, bool start_partial) {
    const TimePoint deadline = TimePoint::clock::now() + timeout;
    engine_->start();
    const Engine::StartResult start = engine_->wait_for_start(deadline, start_partial);
    if (start.trouble) {
      engine_->stop();
      throw_for(*start.trouble);
    }
    if (!start.has_streams) {
      log("a stream of power has nothing to stream: no server serves a device that may be read");
    }
  }

  [[nodiscard]] Engine& engine() noexcept { return *engine_; }
  [[nodiscard]] const UpdateHub& hub() const noexcept { return *hub_; }
  [[nodiscard]] std::map<std::string, ServerEnergy> energy(TimePoint begin, TimePoint end) const;
  [[nodiscard]] std::shared_ptr<PowerReader::Impl> new_reader(const ReaderOptions& options) const {
    return PowerReader::Impl::make(hub_, options);
  }
  /// The reader of `next`.
  [[nodiscard]] std::shared_ptr<PowerReader::Impl> own_reader() {
    const std::scoped_lock lock(mutex_);
    if (!own_reader_) own_reader_ = new_reader({});
    return own_reader_;
  }

 private:
  std::shared_ptr<UpdateHub> hub_;
  std::shared_ptr<client::StreamHistory> book_;  ///< null: no energies
  std::shared_ptr<Engine> engine_;
  std::mutex mutex_;
  std::shared_ptr<PowerReader::Impl> own_reader_;
};

std::map<std::string, ServerEnergy> PowerStream::Impl::energy(TimePoint begin,
                                                              TimePoint end) const {
  if (!book_) {
    throw InvalidArgument("this power stream keeps no readings for energies: set `history`");
  }
  if (end < begin) throw InvalidArgument("a window that ends before it starts has no energy");
  if (hub_->is_forked()) return {};
  // Limited so that durations do not overflow.
  const TimePoint now = TimePoint::clock::now();
  constexpr std::chrono::days kFar{3650};
  begin = std::clamp(begin, now - kFar, now + kFar);
  end = std::clamp(end, now - kFar, now + kFar);
  std::map<std::string, ServerEnergy> energies;
  const std::vector<Server>& servers = hub_->servers();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    energies.emplace(servers[i].endpoint, book_->energy(i, begin, end));
  }
  return energies;
}

PowerStream::PowerStream(std::vector<Server> servers, PowerStreamOptions options) {
  check_servers(servers);
  check_options(options);
  const milliseconds timeout = options.timeout;
  const bool start_partial = options.start_partial;
  impl_ = std::make_shared<Impl>(std::move(servers), std::move(options));
  impl_->start(timeout, start_partial);
}

PowerStream::~PowerStream() { stop(); }

void PowerStream::stop() noexcept { impl_->engine().stop(); }

const std::vector<Server>& PowerStream::servers() const noexcept { return impl_->hub().servers(); }

PowerSnapshot PowerStream::snapshot() const { return impl_->hub().snapshot(); }

std::map<std::string, ServerEnergy> PowerStream::energy(TimePoint begin, TimePoint end) const {
  return impl_->energy(begin, end);
}

std::map<std::string, ServerEnergy> PowerStream::energy(double begin_unix_s,
                                                        double end_unix_s) const {
  if (!std::isfinite(begin_unix_s) || !std::isfinite(end_unix_s)) {
    throw InvalidArgument("cannot compute an energy: the times must be finite");
  }
  const TimePoint begin = from_unix(begin_unix_s);
  const TimePoint end = from_unix(end_unix_s);
  auto energies = impl_->energy(begin, end);
  if (!wall_clock_stepped(begin, end)) return energies;
  for (auto& [endpoint, of_server] : energies) {
    for (auto* quantity : {&of_server.gpus, &of_server.cpus, &of_server.drams}) {
      for (auto& [device, energy] : *quantity) energy.flags.set(Flag::clock_stepped);
    }
  }
  return energies;
}

PowerReader PowerStream::reader(const ReaderOptions& options) const {
  return PowerReader(impl_->new_reader(options));
}

PowerReader::Next PowerStream::next() {
  // The awaitable holds only the implementation: a `PowerReader` member would close the reader.
  return PowerReader::Next(impl_->own_reader());
}

PowerReader::Iterator PowerStream::begin() const {
  return PowerReader::Iterator(impl_->new_reader({}));
}

}  // namespace wattle
