// What a look at a process tree of 200 costs in processor time, beside psutil in the same run, what
// 800 other processes add to it, how exactly a tracker keeps its period, and how soon it stops.
//
//   process_tree_bench process_tree_peer.py [rounds] [python]
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files/fd.hpp"
#include "base/text/parse.hpp"
#include "usage/tree/tree_reader.hpp"
#include "wattle/tracker.hpp"

namespace {

using wattle::Seconds;

constexpr int kChildren = 200;
constexpr int kOthers = 800;
/// Ten seconds of looks at 10 Hz, so that what is done once a second has its share.
constexpr int kTicks = 100;
constexpr std::chrono::milliseconds kPeriod{100};

[[noreturn]] void rest() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (true) ::pause();
}

/// A process with children that rest.
class Family {
 public:
  explicit Family(int children) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      for (int i = 0; i < children; ++i) {
        if (::fork() == 0) rest();
      }
      if (::write(ready[1], "x", 1) != 1) std::abort();
      rest();
    }
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) std::abort();
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Family() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
};

double cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Time of a clock that a look is told: looks one after the other count as 0.1 s apart.
class SteppedClock final : public wattle::TimeSource {
 public:
  void step() noexcept { now_ += kPeriod; }
  [[nodiscard]] wattle::TimePoint now() const noexcept override { return now_; }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override {
    return std::chrono::nanoseconds(0);
  }

 private:
  wattle::TimePoint now_{std::chrono::hours(1)};
};

double tick_s(pid_t root) {
  SteppedClock clock;
  wattle::TreeReader tree({}, clock, root, {.pss = wattle::PssPolicy::never});
  const double begin = cpu_s();
  for (int i = 0; i < kTicks; ++i) {
    clock.step();
    (void)tree.read();
  }
  if (tree.state().descendants.processes != kChildren) std::abort();
  return (cpu_s() - begin) / kTicks;
}

/// The least that a look can be: the CPU clock, `statm` and `children` of each process by kept
/// descriptors, and nothing done with what they say.
double bare_s(pid_t root) {
  const auto open = [](pid_t pid, const char* file) {
    return wattle::open_for_reading(fmt::format("/proc/{}/{}", pid, file));
  };
  std::vector<pid_t> pids = {root};
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", root));
  for (pid_t pid = 0; children >> pid;) pids.push_back(pid);
  std::vector<clockid_t> clocks(pids.size());
  std::vector<wattle::Fd> files;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (::clock_getcpuclockid(pids[i], &clocks[i]) != 0) std::abort();
    files.push_back(open(pids[i], "statm"));
    files.push_back(open(pids[i], fmt::format("task/{}/children", pids[i]).c_str()));
  }
  std::array<char, 4096> text;
  timespec time{};
  const double begin = cpu_s();
  for (int i = 0; i < kTicks; ++i) {
    for (const clockid_t clock : clocks) ::clock_gettime(clock, &time);
    for (const wattle::Fd& file : files) {
      if (::pread(file.get(), text.data(), text.size(), 0) < 0) std::abort();
    }
  }
  return (cpu_s() - begin) / kTicks;
}

/// By how much of the period the time between two looks of a tracker is off: median and the worst
/// of a hundred.
std::array<double, 2> interval_errors(pid_t root) {
  const std::string path = fmt::format("/tmp/process_tree_bench.{}.csv", ::getpid());
  wattle::TrackerOptions options;
  options.sleep_time = kPeriod;
  options.process_id = root;
  options.tracking_file = path;
  {
    wattle::Tracker tracker(options);
    const wattle::TrackerScope scope(tracker);
    std::this_thread::sleep_for(kPeriod * kTicks + kPeriod / 2);
  }
  std::ifstream rows(path);
  std::vector<double> at;
  constexpr int kHeader = 3;
  int line = 0;
  for (std::string row; std::getline(rows, row);) {
    if (++line <= kHeader) continue;
    if (const auto time = wattle::parse_double(row.substr(row.rfind(',') + 1))) at.push_back(*time);
  }
  std::remove(path.c_str());
  if (at.size() < 2) std::abort();
  std::vector<double> errors;
  // Fewer than a hundred where some were missed.
  for (std::size_t i = 1; i < std::min<std::size_t>(kTicks, at.size()); ++i) {
    errors.push_back(std::abs((at[i] - at[i - 1]) / Seconds(kPeriod).count() - 1.0));
  }
  std::ranges::sort(errors);
  return {errors[errors.size() / 2], errors.back()};
}

/// What it takes to stop a tracker that looks once a minute; the longest of five.
double stop_s(pid_t root) {
  wattle::TrackerOptions options;
  options.sleep_time = std::chrono::minutes(1);
  options.process_id = root;
  double longest = 0.0;
  for (int i = 0; i < 5; ++i) {
    wattle::Tracker tracker(options);
    tracker.start();
    std::this_thread::sleep_for(kPeriod);
    const auto begin = std::chrono::steady_clock::now();
    tracker.stop();
    longest = std::max(longest, Seconds(std::chrono::steady_clock::now() - begin).count());
  }
  return longest;
}

std::array<double, 2> peer_s(const std::string& python, const std::string& peer, pid_t root) {
  const std::string command = fmt::format("'{}' '{}' {} 5", python, peer, root);
  const std::unique_ptr<FILE, int (*)(FILE*)> out(::popen(command.c_str(), "r"), ::pclose);
  std::array<double, 2> seconds{};
  if (!out || std::fscanf(out.get(), "%lf %lf", seconds.data(), &seconds[1]) != 2) std::abort();
  return seconds;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): it may end so
  if (argc < 2) {
    fmt::print(stderr, "usage: process_tree_bench PEER.PY [rounds] [python]\n");
    return 1;
  }
  const unsigned rounds = argc > 2 ? wattle::parse_unsigned<unsigned>(argv[2]).value_or(9) : 9;
  const std::string python = argc > 3 ? argv[3] : "python3";
  const Family family(kChildren);
  std::vector<double> own;
  std::vector<double> bare;
  std::vector<double> crowded;
  std::vector<double> all_calls;
  std::vector<double> cheapest;
  for (unsigned round = 0; round < std::max(1U, rounds); ++round) {
    // After psutil and the end of 800 processes the caches hold nothing of a look's.
    (void)tick_s(family.pid());
    own.push_back(tick_s(family.pid()));
    bare.push_back(bare_s(family.pid()));
    {
      const Family others(kOthers);
      (void)tick_s(family.pid());
      crowded.push_back(tick_s(family.pid()));
    }
    const auto [calls, least] = peer_s(python, argv[1], family.pid());
    all_calls.push_back(calls);
    cheapest.push_back(least);
  }
  const double tick = median(own);
  fmt::print("a look at {} processes             {:8.3f} ms\n", kChildren + 1, tick * 1e3);
  fmt::print("its bare calls, nothing read in     {:8.3f} ms  {:.2f} of it\n", median(bare) * 1e3,
             median(bare) / tick);
  fmt::print("with {} others on the machine      {:8.3f} ms  {:+.1f} %\n", kOthers,
             median(crowded) * 1e3, 100.0 * (median(crowded) / tick - 1.0));
  const auto [usual, worst] = interval_errors(family.pid());
  fmt::print("interval error, median and worst    {:8.2f} %  {:.2f} %\n", usual * 100, worst * 100);
  fmt::print("stop of one with a period of 60 s  {:8.2f} ms\n", stop_s(family.pid()) * 1e3);
  fmt::print("psutil, as gpu_tracker calls it     {:8.3f} ms  {:.0f} times\n",
             median(all_calls) * 1e3, median(all_calls) / tick);
  fmt::print("psutil, its cheapest equivalents    {:8.3f} ms  {:.1f} times\n",
             median(cheapest) * 1e3, median(cheapest) / tick);
}
