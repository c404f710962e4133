// A log whose writer is killed at any instant.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "fakes/temp_folder.hpp"
#include "sanitized.hpp"
#include "wattle/run_log.hpp"

namespace wattle {
namespace {

constexpr int kKills = kSanitized ? 25 : 200;
/// So long that a kill can come while the line is being written.
constexpr std::size_t kLongBytes = 100'000;

/// A number that a child shares with the process that kills it.
class SharedNumber {
 public:
  SharedNumber()
      : page_(::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        number_(new(page_) std::atomic<int>) {}
  ~SharedNumber() { ::munmap(page_, sizeof(std::atomic<int>)); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  std::atomic<int>* operator->() const noexcept { return number_; }

 private:
  void* page_;
  std::atomic<int>* number_;
};

[[noreturn]] void log_forever(const std::filesystem::path& path, int run,
                              const SharedNumber& logged) {
  RunLog log(path);
  const std::string text(kLongBytes, 'x');
  for (int n = 0;; ++n) {
    log.log_event("tick", {{"run", run}, {"n", n}, {"text", n % 4 == 3 ? text : ""}});
    logged->store(n + 1);
  }
}

/// Starts a process that logs, and kills it once it has logged something and `delay` has passed.
/// The number of lines that it is sure to have logged.
int log_until_killed(const std::filesystem::path& path, int run, std::chrono::nanoseconds delay,
                     const SharedNumber& logged) {
  logged->store(0);
  const pid_t child = ::fork();
  if (child == 0) log_forever(path, run, logged);
  while (logged->load() == 0) ::usleep(20);
  const auto end = std::chrono::steady_clock::now() + delay;
  while (std::chrono::steady_clock::now() < end) {
  }
  const int sure = logged->load();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return sure;
}

TEST(RunLogKill, LeavesEveryLineThatWasLogged) {
  const fakes::TempFolder folder;
  const auto path = folder.path() / "run.jsonl";
  const SharedNumber logged;
  std::mt19937 random(1);  // NOLINT: the same instants each time, as far as the machine allows
  std::uniform_int_distribution<int> delay_us(0, 2000);
  std::map<int, int> sure;
  for (int run = 0; run < kKills; ++run) {
    sure[run] = log_until_killed(path, run, std::chrono::microseconds(delay_us(random)), logged);
  }
  { RunLog(path).log_event("end"); }  // takes away what the last one left

  std::map<int, int> found;
  std::string line;
  std::string last;
  for (std::ifstream file(path); std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line);  // throws for a half line
    last = entry["event"];
    if (last != "tick") continue;
    EXPECT_EQ(entry["data"]["n"], found[entry["data"]["run"]]++) << "lines are in order";
  }
  EXPECT_EQ(last, "end");
  for (const auto& [run, lines] : sure) EXPECT_GE(found[run], lines) << run;
}

}  // namespace
}  // namespace wattle
