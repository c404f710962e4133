// Ten minutes with daemons that are killed, stopped and started again at random.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "base/text/parse.hpp"
#include "daemon.hpp"
#include "sanitized.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::integration {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kDaemons = 4;

/// Ten minutes, or the seconds in WATTLE_TEST_SOAK_S.
seconds length() {
  const char* const text = std::getenv("WATTLE_TEST_SOAK_S");
  const auto asked = parse_unsigned<unsigned>(text == nullptr ? "" : text);
  return seconds(asked.value_or(600));
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    long kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

/// What was found of all windows that were asked for.
struct Found {
  std::size_t known = 0;    ///< energies of which a part at least was known
  std::size_t unknown = 0;  ///< and of which nothing was
  double worst = 0.0;       ///< distance from the truth, in units of what is allowed
};

/// What draws a steady power.
struct Load {
  double watts;
  /// How far its counter can be behind: that of the fake driver is computed when it is read, those
  /// of CPUs are files that a process writes, when the machine lets it.
  double lag_s;
};
constexpr Load kGpu{.watts = 75.0, .lag_s = 0.0};
constexpr Load kCpu{.watts = 100.0, .lag_s = 0.5};

/// The known part of a steady power's energy is that power times the known time.
void check(const MeasuredEnergy& measured, const Load& load, double window_s, Found& found) {
  if (!measured.energy) {
    ++found.unknown;
    return;
  }
  ++found.known;
  const double known_s = window_s - measured.unknown.count();
  EXPECT_GE(known_s, -1e-6);
  const double error_j = std::abs(measured.energy->si() - load.watts * known_s);
  const double allowed_j = measured.uncertainty.si() + load.watts * (load.lag_s + 0.02 * window_s);
  EXPECT_LE(error_j, allowed_j) << measured.energy->si() << " J in " << known_s << " known of "
                                << window_s << " s";
  found.worst = std::max(found.worst, error_j / allowed_j);
}

class StreamSoak : public DaemonTest {
 protected:
  [[nodiscard]] std::string socket_of(std::size_t i) const {
    return path("daemon" + std::to_string(i)).string();
  }
  void start_daemon(std::size_t i) {
    daemons_.at(i) = std::make_unique<Process>(wattled({"serve", "--socket-path", socket_of(i)}));
  }
  /// One daemon ends by some signal, or is halted for a while, or begins again.
  void disturb(std::mt19937& random) {
    const std::size_t i = random() % kDaemons;
    if (!daemons_.at(i)) return start_daemon(i);
    ++disturbances_;
    switch (random() % 4) {
      case 0:
        daemons_.at(i)->send(SIGTERM);
        break;
      case 1:
        daemons_.at(i)->send(SIGSTOP);
        std::this_thread::sleep_for(milliseconds(random() % 3000));
        daemons_.at(i)->send(SIGCONT);
        return;
      default:
        daemons_.at(i)->send(SIGKILL);
    }
    (void)daemons_.at(i)->wait();
    daemons_.at(i).reset();
  }

  std::array<std::unique_ptr<Process>, kDaemons> daemons_{};
  std::size_t disturbances_ = 0;
};

TEST_F(StreamSoak, NeverLeaksNorReportsAWrongEnergy) {
  nvml_ = std::make_unique<fakes::FakeNvml>(
      "gpu A\npower step 0 75\ncounter 500000\n"
      "gpu B\npower step 0 75\ncounter none\n");
  play(kCpu.watts);
  std::vector<Server> servers;
  for (std::size_t i = 0; i < kDaemons; ++i) {
    start_daemon(i);
    servers.push_back(Server::unix_socket(socket_of(i)));
  }
  std::atomic<std::uint64_t> updates = 0;
  PowerStream stream(servers, {.reconnect_delay = milliseconds(100),
                               .start_partial = true,
                               .on_update = [&](const PowerUpdate& /*update*/) { ++updates; },
                               .history = std::chrono::minutes(2),
                               .counter_period = milliseconds(200)});
  std::uint64_t steps = 0;
  std::thread reader([&] {
    for (const PowerSnapshot& readings : stream) steps += readings.size() / kDaemons;
  });

  std::mt19937 random(1);  // NOLINT: the same disturbances each time
  const auto begin = SteadyClock::now();
  const auto end = begin + length();
  Found found;
  std::size_t most_descriptors = 0;
  long early_kib = 0;
  while (SteadyClock::now() < end && !HasFailure()) {
    disturb(random);
    std::this_thread::sleep_for(milliseconds(200 + random() % 1500));
    const TimePoint now = SteadyClock::now();
    const auto window = milliseconds(1000 + random() % 20000);
    const TimePoint from = std::max(begin, now - window);
    const double window_s = Seconds(now - from).count();
    for (const auto& [endpoint, energy] : stream.energy(from, now)) {
      for (const auto& [gpu, measured] : energy.gpus) check(measured, kGpu, window_s, found);
      for (const auto& [cpu, measured] : energy.cpus) check(measured, kCpu, window_s, found);
    }
    most_descriptors = std::max(most_descriptors, open_descriptors());
    // By then all that is kept has been there once.
    if (early_kib == 0 && now - begin > length() / 3) early_kib = resident_kib();
  }
  stream.stop();
  reader.join();

  const long grown_kib = resident_kib() - early_kib;
  std::printf(
      "%zu disturbances, %llu updates, %llu steps of a reader; %zu energies known, %zu not, the "
      "worst at %.2f of what is allowed; at most %zu descriptors; %ld KiB more than after a "
      "third\n",
      disturbances_, static_cast<unsigned long long>(updates.load()),
      static_cast<unsigned long long>(steps), found.known, found.unknown, found.worst,
      most_descriptors, grown_kib);
  EXPECT_GT(disturbances_, 2U);
  EXPECT_GT(steps, 0U);
  EXPECT_GT(found.known, 0U);
  // Three for each server, those of the processes beside it, and a few.
  EXPECT_LE(most_descriptors, 60U);
  // A sanitizer keeps what was given back, and books of its own: what leaks it tells itself.
  if (!kSanitized) {
    EXPECT_LT(grown_kib, 8 << 10) << "KiB";
  }
}

}  // namespace
}  // namespace wattle::integration
