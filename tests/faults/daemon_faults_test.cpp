// The daemon, and a client that follows it, while the n-th call of a kind fails: both end when they
// are asked to, and no answer is half or wrong.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/files/fd.hpp"
#include "faults.hpp"

namespace wattle::integration {
namespace {

class DaemonFaultSweep : public Faults {
 protected:
  [[nodiscard]] std::string socket() const { return path("wattled.sock").string(); }
  [[nodiscard]] Start daemon_start() const {
    const System system = tree_.system();
    Start start{
        .command = {WATTLE_TEST_DAEMON, "serve", "--mode", "uds", "--socket-path", socket()}};
    start.environment = {{"WATTLE_SYSFS", system.sysfs.string()},
                         {"WATTLE_PROCFS", system.procfs.string()},
                         {"WATTLE_NVML_LIBRARY", path("none.so").string()}};
    return start;
  }
  [[nodiscard]] Fd connected() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof address.sun_path - 1);
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    if (::connect(fd.get(), generic, sizeof address) != 0) return {};
    return fd;
  }
  [[nodiscard]] bool answers() const { return static_cast<bool>(connected()); }
  /// Sends a request; what comes within a moment, up to a whole answer.
  [[nodiscard]] std::string ask(std::string_view target) const {
    const Fd fd = connected();
    if (!fd) return {};
    constexpr timeval kMoment{.tv_sec = 0, .tv_usec = 200'000};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kMoment, sizeof kMoment);
    const std::string request = fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    (void)::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer;
    std::array<char, 4096> room{};
    for (ssize_t size = 1; size > 0 && !is_whole(answer);) {
      size = ::recv(fd.get(), room.data(), room.size(), 0);
      if (size > 0) answer.append(room.data(), static_cast<std::size_t>(size));
    }
    return answer;
  }
  /// One with a length; of a stream that goes on, the first event.
  [[nodiscard]] static bool is_whole(std::string_view answer) {
    const std::size_t end = answer.find(kHeadEnd);
    if (end == std::string_view::npos) return false;
    const std::size_t place = answer.find(kLength);
    if (place > end) return answer.find("\ndata: ") != std::string_view::npos;
    const std::string digits(answer.substr(place + kLength.size(), 8));
    return answer.size() - end - kHeadEnd.size() >= std::stoul(digits);
  }
  /// The value that was sent with 200; null for any other answer, and for none.
  [[nodiscard]] static Json value_of(const std::string& answer) {
    if (answer.empty()) return nullptr;
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 ")) << answer;
    if (!is_whole(answer) || !answer.starts_with("HTTP/1.1 200 ")) return nullptr;
    return parse_json(answer.substr(answer.find(kHeadEnd) + kHeadEnd.size()));
  }

  static constexpr std::string_view kHeadEnd = "\r\n\r\n";
  static constexpr std::string_view kLength = "\r\nContent-Length: ";
};

TEST_F(DaemonFaultSweep, ItsClientEndsWithASignal) {
  Process daemon(daemon_start());
  ASSERT_TRUE(eventually([&] { return answers(); }));
  const Start start = wattle({"stream", "--period", "0.01", "--json", "unix:" + socket()});
  sweep([&] { return interrupted(plan_.applied_to(start)); },
        [&](const Outcome& outcome) { check_lines(outcome); });
}

/// All counters show `energy`, or nothing, or they are not there.
void expect_energies(const Json& cpus, std::uint64_t energy_uj) {
  for (const auto& [id, cpu] : cpus.items()) {
    for (const char* key : {"cpu_energy_uj", "dram_energy_uj"}) {
      if (cpu.contains(key) && !cpu[key].is_null()) {
        EXPECT_EQ(cpu[key], energy_uj) << cpus;
      }
    }
  }
}

TEST_F(DaemonFaultSweep, TheDaemonAnswersRightAndEndsWithASignal) {
  std::ranges::copy_if(all_calls(), std::back_inserter(calls_),
                       [](Call call) { return call != Call::allocate; });
  std::vector<Json> values;
  sweep(
      [&] {
        values.clear();
        std::filesystem::remove(socket());
        Process daemon(plan_.applied_to(daemon_start()));
        if (comes_up(daemon, [&] { return answers(); })) {
          for (const char* target :
               {"/discover", "/cpu/get_cumulative_energy?cpu=true&dram=true"}) {
            values.push_back(value_of(ask(target)));
          }
          (void)ask("/cpu/stream_power");
        }
        daemon.send(SIGTERM);
        return end_of(daemon);
      },
      [&](const Outcome& outcome) {
        if (outcome.code() != 0 && !is_mute()) {
          EXPECT_THAT(outcome.err, HasSubstr("wattled"));
        }
        if (values.empty()) return;
        const Json& found = values[0];
        if (!found.is_null() && found["cpu_ids"].size() < 2) {
          EXPECT_FALSE(found["refused"].empty()) << found;
        }
        if (!values[1].is_null()) expect_energies(values[1], kPackageUnit.energy_uj(1));
      });
}

}  // namespace
}  // namespace wattle::integration
