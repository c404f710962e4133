// The PMU "power" as the kernel shows it in sysfs, and its events as perf_event_open gives them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sensors/perf/event_sensor.hpp"

namespace wattle::fakes {

/// The scale of every event: 2^-32 J, in all digits.
inline constexpr std::string_view kPerfScale = "2.3283064365386962890625e-10";

/// Codes of the events.
inline constexpr std::uint64_t kCoresEvent = 1;
inline constexpr std::uint64_t kPackageEvent = 2;
inline constexpr std::uint64_t kRamEvent = 3;
inline constexpr std::uint64_t kGpuEvent = 4;
inline constexpr std::uint64_t kPsysEvent = 5;

/// The PMU's folder in a tree that is there already (`PowercapTree`, say). Threads: one at a time.
class PerfPmu {
 public:
  static constexpr std::uint32_t kType = 23;

  /// A PMU of type `kType` without events, that counts on CPU 0 of package 0.
  explicit PerfPmu(std::filesystem::path root);

  /// Adds an event such as "energy-pkg" with its unit and scale.
  void add_event(const std::string& name, std::uint64_t code,
                 std::string_view scale = kPerfScale) const;
  /// A CPU's place; `cpumask` is another thing.
  void place_cpu(unsigned cpu, unsigned package, unsigned die = 0) const;
  /// Replaces or adds a file of the PMU: "cpumask", "events/energy-pkg.scale".
  void write_file(const std::string& file, std::string_view content) const;
  void remove_file(const std::string& file) const;
  [[nodiscard]] std::filesystem::path path() const;

 private:
  std::filesystem::path root_;
};

/// A kernel that counts what a test says. One exists at a time. Threads: one.
class FakeEvents {
 public:
  FakeEvents();
  ~FakeEvents();
  FakeEvents(const FakeEvents&) = delete;
  FakeEvents& operator=(const FakeEvents&) = delete;

  [[nodiscard]] const perf::SystemCalls& calls() const noexcept;

  /// What was asked for when an event was opened.
  struct Opened {
    std::uint32_t type;
    std::uint64_t config;
    std::uint64_t read_format;
    int cpu;
    int group;
  };
  [[nodiscard]] const std::vector<Opened>& opened() const noexcept { return opened_; }
  [[nodiscard]] int reads() const noexcept { return reads_; }

  /// The count of an event on a CPU from now on; 0 until then.
  void set_count(int cpu, std::uint64_t config, std::uint64_t count);
  /// From now on opening fails with this `errno`: everywhere, or for one event, or on one CPU.
  void fail_to_open(int error) { open_error_ = error; }
  void fail_to_open_event(std::uint64_t config, int error) { event_errors_[config] = error; }
  void fail_to_open_on(int cpu, int error) { cpu_errors_[cpu] = error; }
  /// No event joins another's group.
  void refuse_groups() { groups_ = false; }
  /// From now on each read fails with this `errno`; 0: reads work again.
  void fail_to_read(int error) { read_error_ = error; }
  /// From now on each read gives this many bytes of what it should.
  void cut_reads_to(std::size_t bytes) { longest_read_ = bytes; }
  /// The CPU goes offline, and with it all that could count in its stead: its events show their
  /// last counts for ever.
  void freeze(int cpu) { frozen_[cpu] = true; }
  /// The CPU goes offline: the groups on it fall apart.
  void tear_groups() { torn_ = true; }

 private:
  struct Event {
    std::uint64_t config;
    int cpu;
    int leader;
  };
  static int open_event(const perf_event_attr& attributes, int cpu, int group) noexcept;
  static ssize_t read_event(int fd, void* buffer, std::size_t bytes) noexcept;
  [[nodiscard]] int error_of(std::uint64_t config, int cpu, int group) const;

  std::vector<Opened> opened_;
  std::vector<std::pair<int, Event>> events_;  ///< with their descriptors, as opened
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> counts_;
  std::map<std::uint64_t, int> event_errors_;
  std::map<int, int> cpu_errors_;
  std::map<int, bool> frozen_;
  int open_error_ = 0;
  int read_error_ = 0;
  int reads_ = 0;
  std::size_t longest_read_ = SIZE_MAX;
  bool groups_ = true;
  bool torn_ = false;
  std::map<int, std::uint64_t> running_ns_;  ///< of each CPU
};

}  // namespace wattle::fakes
