// The power of 1,000 machines with 8 GPUs each, in one thread.
//
//   stream_bench [SERVERS [SECONDS]]
//
// Another process plays the servers: each GPU's power changes 20 times a second, and goes through a
// Unix socket, either together with those of its machine, or alone. Told are the readings that came
// in a second, the processor time of one, the memory of one stream, and how long the end takes.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/files/fd.hpp"
#include "count_allocations.hpp"
#include "wattle/power_stream.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kGpus = 8;
constexpr auto kPeriod = 50ms;
/// The servers take turns, each millisecond a part of them.
constexpr std::size_t kSlices = 50;

std::string path_of(const std::filesystem::path& folder, std::size_t server) {
  return (folder / std::to_string(server)).string();
}

std::string chunk(const std::string& bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The servers, in one thread.
class Players {
 public:
  Players(const std::filesystem::path& folder, std::size_t servers, bool together)
      : epoll_(::epoll_create1(EPOLL_CLOEXEC)), together_(together), streams_(servers, -1) {
    for (std::size_t i = 0; i < servers; ++i) listen(path_of(folder, i), i);
  }

  [[noreturn]] void run() {
    auto next = std::chrono::steady_clock::now();
    for (std::size_t slice = 0;; slice = (slice + 1) % kSlices) {
      next += kPeriod / kSlices;
      std::this_thread::sleep_until(next);
      answer_all();
      write_slice(slice);
    }
  }

 private:
  struct Socket {
    Fd fd{};
    std::size_t server = 0;
    bool listens = false;
  };

  void listen(const std::string& path, std::size_t server) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    if (::bind(fd.get(), generic, sizeof address) != 0 || ::listen(fd.get(), 8) != 0) std::abort();
    add({.fd = std::move(fd), .server = server, .listens = true});
  }

  void add(Socket socket) {
    const int fd = socket.fd.get();
    if (static_cast<std::size_t>(fd) >= sockets_.size()) {
      sockets_.resize(static_cast<std::size_t>(fd) + 1);
    }
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    sockets_[static_cast<std::size_t>(fd)] = std::move(socket);
  }

  void answer_all() {
    std::array<epoll_event, 512> events{};
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
    for (int i = 0; i < count; ++i) {
      const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
      Socket& socket = sockets_[static_cast<std::size_t>(fd)];
      if (socket.listens) {
        add({.fd = Fd(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC)), .server = socket.server});
      } else {
        answer(socket);
      }
    }
  }

  void answer(Socket& socket) {
    std::array<char, 4096> room{};
    const ssize_t size = ::recv(socket.fd.get(), room.data(), room.size(), 0);
    if (size <= 0) {
      if (streams_[socket.server] == socket.fd.get()) streams_[socket.server] = -1;
      socket.fd.reset();
      return;
    }
    const std::string_view head(room.data(), static_cast<std::size_t>(size));
    if (head.starts_with("GET /gpu/stream_power")) {
      send(socket.fd.get(),
           "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
           "Transfer-Encoding: chunked\r\n\r\n");
      streams_[socket.server] = socket.fd.get();
      return;
    }
    std::string body = fmt::format(R"({{"timestamp_ms":{}}})", unix_ms());
    if (head.starts_with("GET /discover")) {
      body = R"({"gpu_ids":[0,1,2,3,4,5,6,7],"cpu_ids":[],"enabled_api_groups":["gpu-read"]})";
    } else if (head.starts_with("GET /gpu/get_power")) {
      body = fmt::format(R"({{"timestamp_ms":{},"power_mw":{{"0":1}}}})", unix_ms());
    }
    send(socket.fd.get(),
         fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
  }

  void write_slice(std::size_t slice) {
    const std::int64_t now_ms = unix_ms();
    const std::size_t writes = streams_.size() * (together_ ? 1 : kGpus);
    std::string bytes;
    for (std::size_t i = slice; i < writes; i += kSlices) {
      bytes.clear();
      const std::size_t first = together_ ? 0 : i / streams_.size();
      const std::size_t end = together_ ? kGpus : first + 1;
      for (std::size_t gpu = first; gpu < end; ++gpu) {
        fmt::format_to(std::back_inserter(bytes),
                       "data: {{\"timestamp_ms\":{},\"gpu_id\":{},\"power_mw\":{}}}\n\n", now_ms,
                       gpu, 300'000 + now_ms % 1000);
      }
      const int fd = streams_[i % streams_.size()];
      if (fd >= 0) send(fd, chunk(bytes));
    }
  }

  static void send(int fd, const std::string& bytes) {
    (void)::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  Fd epoll_;
  bool together_;
  std::vector<int> streams_;     ///< by server; -1: none
  std::vector<Socket> sockets_;  ///< by descriptor
};

double cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_since(TimePoint time) { return Seconds(TimePoint::clock::now() - time).count(); }

void measure(std::size_t servers, int seconds, bool together) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("stream_bench.{}", ::getpid());
  std::filesystem::create_directories(folder);
  const pid_t child = ::fork();
  if (child == 0) Players(folder, servers, together).run();
  const std::string last = path_of(folder, servers - 1);
  while (!std::filesystem::exists(last)) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(50ms);

  std::vector<Server> all;
  // Who asks for CPUs too asks again and again whether they are served by now.
  const ServerOptions gpus_alone{.cpus = std::vector<std::uint32_t>{}};
  for (std::size_t i = 0; i < servers; ++i) {
    all.push_back(Server::unix_socket(path_of(folder, i), gpus_alone));
  }
  std::atomic<std::uint64_t> readings = 0;
  PowerStreamOptions options;
  options.timeout = 30s;
  options.on_update = [&](const PowerUpdate&) { readings.fetch_add(1, std::memory_order_relaxed); };

  const std::size_t memory_before = ::mallinfo2().uordblks;
  TimePoint begin = TimePoint::clock::now();
  PowerStream stream(all, options);
  const double start_s = seconds_since(begin);
  std::this_thread::sleep_for(1s);

  begin = TimePoint::clock::now();
  const double cpu_before_s = cpu_s();
  const std::uint64_t before = readings;
  const std::uint64_t allocations_before = allocations();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const double cost_s = cpu_s() - cpu_before_s;
  const auto came = static_cast<double>(readings - before);
  const double took_s = seconds_since(begin);
  const std::uint64_t allocated = allocations() - allocations_before;
  const double memory =
      static_cast<double>(::mallinfo2().uordblks - memory_before) / static_cast<double>(servers);

  begin = TimePoint::clock::now();
  stream.stop();
  const double stop_s = seconds_since(begin);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::filesystem::remove_all(folder);
  fmt::print(
      "{} servers x {} GPUs, events {}: {:.0f} readings/s, {:.2f} us of processor time each "
      "({:.0f}/s a core), {:.1f} KiB a stream, {} allocations, start {:.2f} s, stop {:.1f} ms\n",
      servers, kGpus, together ? "of a server together" : "alone", came / took_s,
      1e6 * cost_s / came, came / cost_s, memory / 1024.0, allocated, start_s, 1e3 * stop_s);
}

}  // namespace
}  // namespace wattle

int main(int argc, char** argv) {
  try {
    // A stream and a connection for questions to each server, in either process.
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const auto servers = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 1000);
    const int seconds = argc > 2 ? std::atoi(argv[2]) : 10;
    wattle::measure(servers, seconds, true);
    wattle::measure(servers, seconds, false);
    return 0;
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
