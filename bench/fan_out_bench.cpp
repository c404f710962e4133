// Events to 1,000 subscribers: the daemon's own connections beside a bare loop that sends the same
// bytes to as many sockets.
//
//   fan_out_bench [ROUNDS]
//
// Both write to Unix sockets that another thread empties; the next event waits until everybody has
// the last one. What counts is the processor time of the thread that writes. The two take turns.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "http/event_loop.hpp"
#include "http/server.hpp"

namespace wattle::daemon {
namespace {

constexpr std::size_t kSubscribers = 1000;
constexpr int kEvents = 200;

double thread_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Empties sockets and counts what came.
class Readers {
 public:
  Readers() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~Readers() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  void add(Fd fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd.get()}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event);
    fds_.push_back(std::move(fd));
  }
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  /// Waits until so many bytes have come since the last time.
  void wait_for(std::size_t bytes) {
    while (bytes_ < bytes) std::this_thread::sleep_for(std::chrono::microseconds(50));
    bytes_ -= bytes;
  }
  void wait_for_any() {
    while (bytes_ == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  void forget() {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    bytes_ = 0;
  }

 private:
  void run() {
    std::array<epoll_event, 256> events{};
    std::array<char, 65536> room{};
    while (!stopping_) {
      constexpr int kMilliseconds = 20;
      const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), kMilliseconds);
      for (int i = 0; i < count; ++i) {
        const ssize_t read = ::recv(events.at(static_cast<std::size_t>(i)).data.fd, room.data(),
                                    room.size(), MSG_DONTWAIT);
        if (read > 0) bytes_ += static_cast<std::size_t>(read);
      }
    }
  }

  Fd epoll_;
  std::vector<Fd> fds_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

Fd connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  if (::connect(fd.get(), generic, sizeof address) != 0) std::abort();
  return fd;
}

/// Stands for CPUs whose power the bench makes up.
class NoSensor final : public Sensor {
 public:
  explicit NoSensor(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      channels_.push_back({.domain = Domain::package(i),
                           .counter = {.tick = Joules(1e-6), .max_power = Watts(1000.0)}});
    }
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    for (Reading& reading : readings) reading = {.at = std::chrono::steady_clock::now()};
  }

 private:
  std::vector<Channel> channels_;
};

std::vector<PowerChange> news(std::uint32_t devices, int round) {
  std::vector<PowerChange> updates;
  for (std::uint32_t i = 0; i < devices; ++i) {
    updates.push_back({.id = i,
                       .timestamp_ms = 1'762'000'000'000 + round,
                       .power_mw = 50'000U + static_cast<unsigned>(round),
                       .dram_mw = 10'000});
  }
  return updates;
}

/// Processor time for one event to one subscriber, ours and bare, in microseconds.
struct Costs {
  double ours;
  double bare;
};

class Ours {
 public:
  Ours(std::uint32_t devices, const std::string& path, Readers& readers)
      : service_(inventory(devices), loop_, {.streams = {.cpu_period = std::chrono::hours(1)}}),
        server_(loop_, service_, listeners(path)),
        thread_([this] { loop_.run(); }) {
    for (std::size_t i = 0; i < kSubscribers; ++i) {
      Fd fd = connect_to(path);
      constexpr std::string_view kRequest =
          "GET /cpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n";
      (void)::send(fd.get(), kRequest.data(), kRequest.size(), 0);
      readers.add(std::move(fd));
    }
  }
  ~Ours() {
    loop_.stop();
    thread_.join();
  }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  /// Seconds of processor time.
  double publish(const std::vector<PowerChange>& updates) {
    std::atomic<bool> is_done = false;
    double cost = 0.0;
    loop_.poster()([&] {
      Request request;
      const double before = thread_cpu_s();
      service_.cpu_stream(request).stream().publish(updates, loop_.now());
      cost = thread_cpu_s() - before;
      is_done = true;
    });
    while (!is_done) std::this_thread::sleep_for(std::chrono::microseconds(50));
    return cost;
  }

 private:
  static Inventory inventory(std::uint32_t devices) {
    Inventory found;
    found.cpu_sensors.push_back(std::make_unique<NoSensor>(devices));
    for (std::uint32_t i = 0; i < devices; ++i) found.cpus.push_back({.id = i, .cpu = {0, i}});
    return found;
  }
  static std::vector<ListeningSocket> listeners(const std::string& path) {
    std::vector<ListeningSocket> made;
    made.push_back(listen_at_file({.path = path}));
    return made;
  }

  EventLoop loop_;
  Service service_;
  HttpServer server_;
  std::thread thread_;
};

double send_bare(const std::vector<Fd>& sockets, int epoll, const std::string& bytes) {
  const double before = thread_cpu_s();
  std::array<epoll_event, 16> events{};
  (void)::epoll_wait(epoll, events.data(), events.size(), 0);
  for (const Fd& fd : sockets) {
    if (::send(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) std::abort();
  }
  return thread_cpu_s() - before;
}

/// As the daemon writes them.
std::string bytes_of(const std::vector<PowerChange>& updates) {
  class Taker final : public Subscriber {
   public:
    void deliver(const Frame& frame) override { text = *frame; }
    std::string text;
  };
  Taker taker;
  Stream stream(DeviceType::cpu, wire::StreamFormat::per_device);
  Ids ids;
  for (const PowerChange& update : updates) ids.push_back(update.id);
  stream.subscribe(taker, ids);
  stream.publish(updates, TimePoint{});
  Stream::unsubscribe(taker);
  return taker.text;
}

Costs measure(std::uint32_t devices, const std::filesystem::path& folder) {
  Readers ours_read;
  Ours ours(devices, (folder / "ours").string(), ours_read);
  ours_read.start();

  Readers bare_read;
  std::vector<Fd> sockets;
  const Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  for (std::size_t i = 0; i < kSubscribers; ++i) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) std::abort();
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = pair[0]}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, pair[0], &event);
    sockets.emplace_back(pair[0]);
    bare_read.add(Fd(pair[1]));
  }
  bare_read.start();
  ours_read.wait_for_any();
  ours_read.forget();  // the heads

  Costs sum{};
  for (int round = 0; round < kEvents; ++round) {
    const auto updates = news(devices, round);
    const std::string bytes = bytes_of(updates);
    sum.bare += send_bare(sockets, epoll.get(), bytes);
    bare_read.wait_for(bytes.size() * kSubscribers);
    sum.ours += ours.publish(updates);
    ours_read.wait_for(bytes.size() * kSubscribers);
  }
  constexpr double kMicroseconds = 1e6 / (kEvents * static_cast<double>(kSubscribers));
  return {sum.ours * kMicroseconds / devices, sum.bare * kMicroseconds / devices};
}

int compare(int rounds) {
  // Both ends of 2,000 connections.
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("fan_out_bench.{}", ::getpid());
  std::filesystem::create_directories(folder);
  for (const std::uint32_t devices : {1U, 10U}) {
    std::vector<double> ratios;
    std::vector<double> costs;
    for (int i = 0; i < rounds; ++i) {
      const Costs cost = measure(devices, folder);
      ratios.push_back(cost.bare / cost.ours);
      costs.push_back(cost.ours);
    }
    std::ranges::sort(ratios);
    std::ranges::sort(costs);
    const std::size_t middle = ratios.size() / 2;
    fmt::print(
        "{:>2} events a write: {:.2f} us an event, {:.2f}x the events per second of a bare "
        "loop ({:.2f} to {:.2f})\n",
        devices, costs[middle], ratios[middle], ratios.front(), ratios.back());
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace wattle::daemon

int main(int argc, char** argv) {
  try {
    return wattle::daemon::compare(argc > 1 ? std::atoi(argv[1]) : 9);
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
