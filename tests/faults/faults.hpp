// Runs a program again and again; in each run another one of its calls fails.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "fakes/powercap_tree.hpp"
#include "fault_plan.hpp"

namespace wattle::integration {

using fakes::kPackageUnit;
using faults::Call;
using faults::Fault;
using faults::FaultPlan;
using faults::kCallNames;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Every n, or a few.
inline const bool kAll = std::getenv("WATTLE_TEST_ALL_FAULTS") != nullptr;
constexpr std::uint64_t kTicks = 100'000;  ///< that each counter moves by while a command runs

inline const double kMovedJ = static_cast<double>(kTicks) * kPackageUnit.tick_j;

/// A call with the errors that it fails with.
struct Kind {
  Call call;
  std::vector<int> errors;
};

/// What each kind of call is made to fail with; the first error is the one of the short choice.
inline std::vector<Kind> kinds() {
  return {{Call::open, {EMFILE, EIO}},   {Call::read, {EIO, EINTR}},
          {Call::pread, {EIO, EINTR}},   {Call::write, {ENOSPC, EIO, EINTR}},
          {Call::fsync, {EIO}},          {Call::rename, {ENOSPC}},
          {Call::mmap, {ENOMEM}},        {Call::clone, {EAGAIN}},
          {Call::poll, {ENOMEM, EINTR}}, {Call::epoll_ctl, {ENOSPC, ENOMEM}},
          {Call::epoll_wait, {EINTR}},   {Call::accept, {EMFILE, ECONNABORTED}},
          {Call::send, {ENOMEM, EINTR}}, {Call::recv, {EIO, EINTR}},
          {Call::wait, {ECHILD, EINTR}}, {Call::allocate, {ENOMEM}},
          {Call::resize, {ENOSPC, EIO}}, {Call::close, {EIO, EINTR}},
          {Call::remove, {EACCES}}};
}

inline std::vector<Call> all_calls() {
  std::vector<Call> calls;
  for (const Kind& kind : kinds()) calls.push_back(kind.call);
  return calls;
}

/// True if the kernel did not tell the command's status.
inline bool has_lost_status(const Outcome& outcome) {
  return outcome.err.find("its exit status is unknown: No child processes") != std::string::npos;
}

/// Where not all calls of a kind fail.
enum class Choice : std::uint8_t {
  few,    ///< three of each kind
  tenth,  ///< each tenth of each kind, from one that its name chooses; of many, 30
};

/// Which of the `count` calls named `name` fail, each in a program of its own.
inline std::vector<std::uint64_t> numbers(std::string_view name, std::uint64_t count,
                                          Choice choice) {
  std::uint64_t first = 1;
  std::uint64_t step = 1;
  if (!kAll && choice == Choice::few) {
    constexpr std::uint64_t kFew = 3;
    step = std::max<std::uint64_t>(1, count / kFew);
  } else if (!kAll) {
    constexpr std::uint64_t kTenth = 10;
    constexpr std::uint64_t kMost = 30;
    step = std::max(kTenth, count / kMost);
    std::uint64_t sum = 0;
    for (const char letter : name) sum += static_cast<unsigned char>(letter);
    first += sum % std::clamp<std::uint64_t>(count, 1, step);
  }
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t number = first; number <= count; number += step) chosen.push_back(number);
  return chosen;
}

class Faults : public CommandTest {
 protected:
  Faults() {
    for (int i = 0; i < 2; ++i) {
      const std::string zone = "intel-rapl:" + std::to_string(i);
      tree_.add_zone(zone, "package-" + std::to_string(i), kPackageUnit, 1);
      tree_.add_zone(zone + ":0", "dram", kPackageUnit, 1);
    }
  }

  /// `start` once for each choice of a failing call; `check` looks at what became of it.
  void sweep(const std::function<Outcome()>& once,
             const std::function<void(const Outcome&)>& check) {
    plan_.set({});
    reset();
    check(once());
    faultless_ = took_;
    std::vector<std::uint64_t> counts;
    for (const Kind& kind : kinds()) counts.push_back(plan_.count(kind.call));
    std::size_t place = 0;
    for (const Kind& kind : kinds()) {
      const std::uint64_t count = counts[place++];
      if (!calls_.empty() && std::ranges::count(calls_, kind.call) == 0) continue;
      for (const int error : kind.errors) {
        for (const bool sticky : {false, true}) {
          // One that is interrupted for ever is interrupted by nobody.
          if (sticky && error == EINTR) continue;
          if (!kAll && (sticky || error != kind.errors.front())) continue;
          // Of thousands of allocations the others end the program in the same places.
          if (sticky && kind.call == Call::allocate && choice_ == Choice::tenth) continue;
          const std::string_view name = kCallNames.at(static_cast<std::size_t>(kind.call));
          for (const std::uint64_t number : numbers(name, count, choice_)) {
            const Fault fault{kind.call, error, number, sticky};
            SCOPED_TRACE(to_string(fault));
            fault_ = fault;
            const Outcome outcome = promptly(once);
            EXPECT_EQ(outcome.signal(), std::nullopt) << outcome.err;
            EXPECT_GE(outcome.status, 0) << "it hangs";
            check(outcome);
            if (outcome.status < 0) return;
          }
        }
      }
    }
  }

  /// One run with the fault. One that takes long is made again: a busy machine is slow now and
  /// then, a program that hangs hangs each time.
  [[nodiscard]] Outcome promptly(const std::function<Outcome()>& once) {
    constexpr int kTries = 3;
    Outcome outcome;
    for (int i = 0; i < kTries; ++i) {
      reset();
      plan_.set(fault_);
      outcome = once();
      if (took_ <= kHang || outcome.status < 0) break;
    }
    EXPECT_LE(took_, kHang + 3 * faultless_) << "it hangs for a while";
    return outcome;
  }
  /// Waits for its end, from where nothing holds it up any more.
  [[nodiscard]] Outcome end_of(Process& process) {
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome = process.wait();
    took_ = std::chrono::steady_clock::now() - begin;
    return outcome;
  }

  /// True if nothing that is written arrives, messages neither.
  [[nodiscard]] bool is_mute() const noexcept {
    return fault_.call == Call::write && fault_.sticky;
  }
  /// Counters at their beginning, and no file of another run.
  virtual void reset() {
    for (const char* zone : kZones)
      fakes::set_energy_uj(tree_.zone_path(zone), kPackageUnit.energy_uj(1));
    for (const char* name : {"ran", "run.json", "report", "series.csv", "track.json"}) {
      std::filesystem::remove(path(name));
    }
    std::filesystem::remove_all(path("out"));
  }

  /// Moves every counter, shows that it ran, and ends with 7.
  [[nodiscard]] Words command() const {
    std::string script;
    for (const char* zone : kZones) {
      script += "printf '%012d\n' " + std::to_string(kPackageUnit.energy_uj(1 + kTicks)) +
                " 1<> '" + (tree_.zone_path(zone) / "energy_uj").string() + "'\n";
    }
    return {"/bin/sh", "-c", script + ": > '" + path("ran").string() + "'\nexit 7\n"};
  }
  [[nodiscard]] Words surroundings() const {
    const System system = tree_.system();
    return {"--sysfs", system.sysfs, "--procfs", "/proc", "--nvml-library", path("none.so")};
  }
  [[nodiscard]] Outcome run_to_end(const Start& start) {
    Process process(plan_.applied_to(start));
    return end_of(process);
  }

  /// What prints until it is interrupted: once it has printed something, or after a while.
  [[nodiscard]] Outcome interrupted(const Start& start) {
    Process process(start);
    (void)comes_up(process, [&] { return process.has_printed(); });
    process.send(SIGINT);
    return end_of(process);
  }
  /// Asks for a moment whether the program is so far; false also if it has ended.
  [[nodiscard]] static bool comes_up(Process& process, const std::function<bool()>& is_up) {
    constexpr int kTries = 300;
    for (int i = 0; i < kTries && process.is_running(); ++i) {
      if (is_up()) return true;
    }
    return false;
  }

  /// The command's own status, or it never ran.
  void check_command(const Outcome& outcome) const {
    const bool ran = std::filesystem::exists(path("ran"));
    EXPECT_EQ(outcome.code(), ran && !has_lost_status(outcome) ? 7 : kFailed) << outcome.err;
    if (!ran && !is_mute()) {
      EXPECT_THAT(outcome.err, Not(IsEmpty()));
    }
  }
  /// Every line that was printed is one JSON value; a failure is told.
  void check_lines(const Outcome& outcome) const {
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) (void)parse_json(line);
    if (outcome.code() != 0 && !is_mute()) {
      EXPECT_THAT(outcome.err, Not(IsEmpty()));
    }
  }

  /// The file is as it was, empty, or one JSON value.
  [[nodiscard]] static Json whole_json(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) return nullptr;
    const std::string text = content_of(file);
    return text.empty() ? Json(nullptr) : parse_json(text);
  }
  /// No domain and no total is wrong without saying so.
  static void check_energy(const Json& energy) {
    double counted = 0.0;
    for (const Json& domain : energy["domains"]) {
      if (domain["energy_j"].is_null() || domain["contained_in"].is_string()) continue;
      counted += 1;
      const bool known = domain["unknown_s"] == 0.0 && domain["flags"].empty();
      if (known) {
        EXPECT_NEAR(domain["energy_j"].get<double>(), kMovedJ, 1e-9) << domain;
      }
    }
    if (energy["total_j"].is_null() || energy["total_unknown_s"] != 0.0) return;
    const std::string missing = energy["total_missing"].dump();
    const bool complete = missing.find("\"cpu\"") == std::string::npos &&
                          missing.find("\"dram\"") == std::string::npos;
    if (complete) {
      EXPECT_NEAR(energy["total_j"].get<double>(), 4 * kMovedJ, 1e-9) << energy;
    }
    EXPECT_TRUE(complete || counted < 4) << energy;
  }

  /// The same for a total alone.
  static void check_machine(const Json& machine) {
    if (machine["energy_j"].is_null() || machine["unknown_s"] != 0.0) return;
    const std::string missing = machine["total_missing"].dump();
    if (missing.find("\"cpu\"") != std::string::npos) return;
    if (missing.find("\"dram\"") != std::string::npos) return;
    EXPECT_NEAR(machine["energy_j"].get<double>(), 4 * kMovedJ, 1e-3) << machine;
  }

  static constexpr std::array kZones = {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1",
                                        "intel-rapl:1:0"};
  /// Nothing that fails is waited for so long.
  static constexpr std::chrono::nanoseconds kHang = std::chrono::seconds(2);
  std::chrono::nanoseconds took_{0};       ///< the last program, to end
  std::chrono::nanoseconds faultless_{0};  ///< one without a fault, on this machine
  Fault fault_;                            ///< of the program that runs
  std::vector<Call> calls_;                ///< that fail; empty: all
  Choice choice_ = Choice::few;
  fakes::PowercapTree tree_;
  FaultPlan plan_{path("plan")};
};

}  // namespace wattle::integration
