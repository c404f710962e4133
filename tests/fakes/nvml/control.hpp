// The fake NVML as a test holds it: writes its script, moves its time, asks what was called.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/dynlib.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/system.hpp"

namespace wattle::fakes {

/// Which of its two builds: `old` lacks the symbols that drivers before about 2016 lacked.
enum class NvmlBuild { current, old };

/// One at a time in a process. Stands at virtual time 0 until told otherwise. Its clock shows the
/// same time. Threads: one at a time, but for the clock.
class FakeNvml {
 public:
  /// `script`: see fakes/nvml/script.hpp.
  explicit FakeNvml(std::string_view script, NvmlBuild build = NvmlBuild::current);
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;
  /// Lets everything that hangs go on, and waits until everybody is done with NVML: whatever uses
  /// it must be gone before.
  ~FakeNvml();

  /// Replaces the script, when everybody in this process is done with NVML: whatever uses it must
  /// be gone before.
  void set_script(std::string_view script);
  /// Points to the fake library, and else to an empty folder.
  [[nodiscard]] System system() const;
  [[nodiscard]] const TimeSource& clock() const noexcept { return clock_; }

  void set_time(Seconds time);
  /// As on a real machine, from now on time passes by itself. `clock()` stands.
  void let_time_pass();
  void release_hung();
  /// Since this object was made.
  [[nodiscard]] std::uint64_t calls(const char* function) const;
  [[nodiscard]] bool shut_down_during_call() const;
  [[nodiscard]] const std::string& library_path() const noexcept { return path_; }
  [[nodiscard]] std::string script_path() const;

 private:
  class VirtualClock final : public TimeSource {
   public:
    [[nodiscard]] TimePoint now() const noexcept override {
      return TimePoint(std::chrono::hours(1)) + elapsed_.load();
    }
    [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return {}; }
    void set(std::chrono::nanoseconds elapsed) noexcept { elapsed_ = elapsed; }

   private:
    std::atomic<std::chrono::nanoseconds> elapsed_{std::chrono::nanoseconds(0)};
  };

  void wait_until_idle(const std::function<void()>& at_each_look) const;

  TempFolder folder_;
  std::string path_;
  DynamicLibrary library_;  ///< kept loaded, so that its time and counts last
  VirtualClock clock_;
};

}  // namespace wattle::fakes
