// What the fake's functions share: its state, its time, and what the script's rules make of a call.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "fakes/nvml/script.hpp"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fakenvml {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kLost = 15;
inline constexpr Return kVersionMismatch = 25;
inline constexpr Return kUnknown = 999;

struct Handle {
  Gpu* gpu;
  double obtained_s;
};

struct State {
  Script script;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::list<Handle> handles;
};

/// How often each function was called. Counting takes no memory: a function of a driver must not
/// throw where there is none.
class CallCounts {
 public:
  /// `name` must live as long as the library.
  void add(std::string_view name) {
    for (Count& count : counts_) {
      if (count.name.empty()) count.name = name;
      if (count.name == name) {
        ++count.calls;
        return;
      }
    }
  }
  [[nodiscard]] std::uint64_t of(std::string_view name) const {
    for (const Count& count : counts_) {
      if (count.name == name) return count.calls;
    }
    return 0;
  }

 private:
  struct Count {
    std::string_view name;
    std::uint64_t calls = 0;
  };
  static constexpr std::size_t kFunctions = 64;  // more than the library has
  std::array<Count, kFunctions> counts_;
};

/// What outlives an initialization. Never destroyed: a call may still hang when the program ends.
struct Shared {
  std::mutex mutex;
  std::condition_variable released;
  std::uint64_t releases = 0;
  std::shared_ptr<State> state;
  int initialized = 0;
  int calls_under_way = 0;
  bool shut_down_during_call = false;
  CallCounts calls;
  std::atomic<std::int64_t> virtual_ns{-1};  ///< negative: time passes
  /// When it was 0 for a clock that was set going; absent (0) for one that nobody ever touched.
  std::atomic<std::int64_t> real_zero_ns{0};
};

Shared& shared();

/// Reads the script; null, after a message, where it means nothing.
std::shared_ptr<State> load();
/// Virtual, or since the library was initialized, or going on from where the virtual time stood.
std::int64_t now_ns(const State& state);
/// The machine's steady clock.
std::int64_t steady_ns();
double seconds(std::int64_t ns);
/// What the rules make of a call: waits where they say so.
Return apply(std::list<Rule>& rules, std::string_view name, double now_s);
bool is_lost(const Gpu& gpu, double now_s);
bool is_stale(const Handle& handle, double now_s);
Return copy_text(const std::string& text, char* buffer, unsigned int size);
/// The power in mW that a sensor shows: its mean over the window that ended at its last update.
std::uint64_t shown_mw(const PowerCurve& power, const SensorView& view, std::int64_t now);

/// One call of a function: counted, and the library must not be shut down meanwhile.
class Call {
 public:
  explicit Call(const char* name) {
    const std::scoped_lock lock(shared().mutex);
    shared().calls.add(name);
    ++shared().calls_under_way;
    if (shared().initialized > 0) state_ = shared().state;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    const std::scoped_lock lock(shared().mutex);
    --shared().calls_under_way;
  }
  [[nodiscard]] State* state() const { return state_.get(); }

 private:
  std::shared_ptr<State> state_;
};

/// Calls `body` with the state, unless the script has something else in mind.
template <class Body>
Return system_call(const char* name, Body body) {
  const Call call(name);
  State* const state = call.state();
  if (state == nullptr) return kUninitialized;
  const Return ruled = apply(state->script.rules, name, seconds(now_ns(*state)));
  return ruled != kSuccess ? ruled : body(*state);
}

/// `body` gets the GPU and the time in ns.
template <class Body>
Return device_call(const char* name, void* device, Body body) {
  return system_call(name, [&](State& state) -> Return {
    if (device == nullptr) return kInvalidArgument;
    Handle& handle = *static_cast<Handle*>(device);
    const Return ruled = apply(handle.gpu->rules, name, seconds(now_ns(state)));
    if (ruled != kSuccess) return ruled;
    const std::int64_t now = now_ns(state);
    if (is_lost(*handle.gpu, seconds(now)) || is_stale(handle, seconds(now))) return kLost;
    return body(*handle.gpu, now);
  });
}

/// The first or second number of a pair, where the GPU has it.
template <class Number>
Return give(const Gpu::Pair& pair, bool second, Number* value, std::uint64_t scale = 1) {
  if (value == nullptr) return kInvalidArgument;
  if (!pair) return kNotSupported;
  *value = static_cast<Number>((second ? pair->second : pair->first) * scale);
  return kSuccess;
}

/// Finds a GPU and makes a handle for it.
template <class Matches>
Return open_gpu(const char* name, void** device, Return missing, Matches matches) {
  return system_call(name, [&](State& state) -> Return {
    unsigned int number = 0;
    for (Gpu& gpu : state.script.gpus) {
      if (!matches(gpu, number++)) continue;
      const double now_s = seconds(now_ns(state));
      const Return ruled = apply(gpu.rules, name, now_s);
      if (ruled != kSuccess) return ruled;
      if (is_lost(gpu, now_s)) return kLost;
      const std::scoped_lock lock(state.mutex);
      *device = &state.handles.emplace_back(Handle{&gpu, now_s});
      return kSuccess;
    }
    return missing;
  });
}

}  // namespace fakenvml
