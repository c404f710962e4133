// Daemons with a history on disk that are killed at random instants: what they had read is there
// when the next one runs, but for the last second, and nothing else is.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "daemon.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

/// How often a daemon is killed.
int kills() {
  const char* const number = std::getenv("DAEMON_KILLS");
  return number != nullptr ? std::atoi(number) : 6;
}

double unix_now() { return Seconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

void wait_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// An answer for a domain.
struct Energy {
  std::optional<double> joules;
  double unknown_s = 0.0;
  double uncertainty_j = 0.0;
};

/// What was known of a daemon's run just before it was killed, and the time after it.
struct KilledRun {
  double from = 0.0;
  double to = 0.0;
  std::map<std::string, Energy> energies;  ///< as the daemon itself answered
  double written = 0.0;                    ///< when its last values were written
  double dead_from = 0.0;                  ///< no daemon ran until `dead_to`
  double dead_to = 0.0;

  /// A GPU's mean of the last second, which the next daemon reads, is of the time before it.
  [[nodiscard]] double unseen_to() const { return dead_to - 1.0; }
  /// What was read, but not written yet.
  [[nodiscard]] double unwritten_s() const { return std::max(to - written, 0.0); }
};

class DaemonKill : public DaemonTest {
 protected:
  void start() {
    serve({"--history-dir", folder(), "--history", "7200"});
    ASSERT_TRUE(logs(testing::AnyOf(HasSubstr("history: read"), HasSubstr("history: there is"))));
  }
  [[nodiscard]] std::string folder() const { return path("history").string(); }
  [[nodiscard]] std::map<std::string, Energy> energies(double from, double to) const {
    const HttpAnswer answer =
        get("/api/v1/energy?from=" + std::to_string(from) + "&to=" + std::to_string(to));
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::map<std::string, Energy> all;
    const Json json = parse_json(answer.body);
    for (const Json& each : json["domains"]) {
      Energy energy{.joules = {}, .unknown_s = each["unknown_s"].get<double>()};
      if (each["energy_j"].is_number()) {
        energy.joules = each["energy_j"].get<double>();
        energy.uncertainty_j = each["uncertainty_j"].get<double>();
      }
      all[each["domain"].get<std::string>()] = energy;
    }
    return all;
  }
  /// When the newest file of the history was written last.
  [[nodiscard]] double last_written() const {
    double newest = 0.0;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      struct stat status {};
      const bool is_chunk =
          entry.path().extension() == ".chunk" && ::stat(entry.path().c_str(), &status) == 0;
      if (!is_chunk) continue;
      newest = std::max(newest, static_cast<double>(status.st_mtim.tv_sec) +
                                    1e-9 * static_cast<double>(status.st_mtim.tv_nsec));
    }
    return newest;
  }
  /// A daemon runs for a while, and is killed.
  [[nodiscard]] KilledRun killed_run(double seconds, double dead_s) {
    start();
    KilledRun run{.from = unix_now()};
    wait_for(seconds);
    run.to = unix_now();
    run.energies = energies(run.from, run.to);
    daemon_->send(SIGKILL);
    (void)daemon_->wait();
    run.dead_from = unix_now();
    run.written = last_written();
    wait_for(dead_s);
    run.dead_to = unix_now();
    return run;
  }
  /// Compares what the present daemon answers.
  void check(const KilledRun& run) const {
    for (const auto& [domain, now] : energies(run.from, run.to)) {
      const Energy& then = run.energies.at(domain);
      // What was written is there, but for a reading that came late on a busy machine.
      const double lost_s = now.unknown_s - then.unknown_s;
      EXPECT_LE(lost_s, run.unwritten_s() + 0.5)
          << domain << " from " << run.from << " to " << run.to;
      if (!then.joules || !now.joules) continue;
      const double error_j = 0.01 + now.uncertainty_j + then.uncertainty_j;
      EXPECT_LE(*now.joules, *then.joules + error_j) << domain << " from " << run.from;
    }
    EXPECT_FALSE(energies(run.dead_from, run.dead_to).at("package_0").joules) << run.dead_from;
    if (run.unseen_to() > run.dead_from) {
      for (const auto& [domain, now] : energies(run.dead_from, run.unseen_to())) {
        EXPECT_FALSE(now.joules) << domain << ": no daemon ran from " << run.dead_from;
      }
    }
    const HttpAnswer power = get("/api/v1/power?from=" + std::to_string(run.dead_from) +
                                 "&to=" + std::to_string(run.dead_to));
    ASSERT_EQ(power.status, 200) << power.body;
    const Json json = parse_json(power.body);
    for (const Json& domain : json["domains"]) {
      for (const Json& mean : domain["mean_w"]) EXPECT_TRUE(mean.is_null()) << domain;
    }
  }
};

TEST_F(DaemonKill, LosesTheLastSecondAtMost) {
  play(100.0);
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same instants every time
  std::uniform_real_distribution<double> length(0.8, 1.8);
  std::vector<KilledRun> runs;
  for (int i = 0; i < kills(); ++i) {
    // Some are killed while they read the files.
    if (i % 5 == 4) {
      serve({"--history-dir", folder(), "--history", "7200"});
      daemon_->send(SIGKILL);
      (void)daemon_->wait();
    }
    runs.push_back(killed_run(length(random), i % 5 == 2 ? 2.0 : 0.25));
    if (HasFatalFailure()) return;
  }
  start();
  for (const KilledRun& run : runs) check(run);
  // A busy machine delays some writes, but not most of them.
  const auto in_time =
      std::ranges::count_if(runs, [](const KilledRun& run) { return run.unwritten_s() <= 0.8; });
  EXPECT_GE(2 * static_cast<std::size_t>(in_time), runs.size());
  std::size_t known = 0;
  for (const auto& [domain, energy] : energies(runs.front().from, unix_now())) {
    if (energy.joules) ++known;
  }
  EXPECT_EQ(known, runs.front().energies.size());
}

TEST_F(DaemonKill, ADamagedFileCostsItsPartAndIsNamed) {
  play(100.0);
  const KilledRun run = killed_run(2.5, 0.0);
  std::size_t changed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".chunk") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.write("damage", 6);
    ++changed;
  }
  ASSERT_EQ(changed, 1U);
  start();
  EXPECT_TRUE(logs(HasSubstr("damaged bytes are left out")));
  for (const auto& [domain, now] : energies(run.from, run.to)) {
    const Energy& then = run.energies.at(domain);
    EXPECT_GT(now.unknown_s, then.unknown_s + 0.2) << domain;
    EXPECT_LT(now.joules.value_or(0.0), then.joules.value_or(1e9)) << domain;
  }
}

TEST_F(DaemonKill, AFolderInUseIsRefusedWithOneSentence) {
  start();
  const Outcome outcome = run(
      wattled({"serve", "--socket-path", path("other.sock").string(), "--history-dir", folder()}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_TRUE(logs(HasSubstr("cannot keep the history in " + folder() +
                             ": another wattled uses it; name another folder with --history-dir")));
  EXPECT_FALSE(std::filesystem::exists(path("other.sock")));
}

TEST_F(DaemonKill, AnEndInOrderLosesNothing) {
  play(100.0);
  start();
  const double from = unix_now();
  wait_for(1.2);
  const double to = unix_now();
  const auto then = energies(from, to);
  daemon_->send(SIGTERM);
  EXPECT_EQ(daemon_->wait().code(), 0);
  start();
  const Energy now = energies(from, to).at("package_0");
  EXPECT_NEAR(now.unknown_s, then.at("package_0").unknown_s, 0.15);
}

TEST_F(DaemonKill, WritesAlsoOnceItIsNoLongerRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives up root";
  if (kSanitized) GTEST_SKIP() << "the sanitizer looks for leaks by means that are forbidden";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  serve({"--history-dir", folder(), "--user", "nobody"});
  const auto is_written = [&] {
    const std::filesystem::directory_iterator entries(folder());
    return std::ranges::any_of(begin(entries), end(entries), [](const auto& entry) {
      return entry.path().extension() == ".chunk" && entry.file_size() > 0;
    });
  };
  EXPECT_TRUE(eventually(is_written));
}

TEST_F(DaemonKill, ADiskThatFailsHarmsNoAnswer) {
  start();
  std::filesystem::remove_all(folder());
  EXPECT_TRUE(logs(HasSubstr("cannot write the history in " + folder())));
  EXPECT_EQ(get("/time").status, 200);
  EXPECT_EQ(get("/api/v1/energy?from=1&to=2").status, 200);
}

}  // namespace
}  // namespace wattle::integration
