// Reads devices while their streams have subscribers, and publishes the powers.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/schedule.hpp"
#include "cpus.hpp"
#include "gpus.hpp"
#include "loop.hpp"
#include "stream.hpp"

namespace wattle::daemon {

/// How often the devices of a stream are read.
struct HubOptions {
  std::chrono::nanoseconds gpu_period = std::chrono::milliseconds(50);
  std::chrono::nanoseconds cpu_period = std::chrono::milliseconds(100);
  wire::StreamFormat format = wire::StreamFormat::per_device;
};

/// Calls a function periodically, from `start` to `stop`. Threads: the loop's.
class Pace {
 public:
  Pace(Loop& loop, std::chrono::nanoseconds period, Work tick)
      : loop_(loop), period_(period), tick_(std::move(tick)), timer_(loop.make_timer()) {}
  /// The first tick is one period from now. Does nothing while running.
  void start();
  void stop();
  [[nodiscard]] bool is_running() const noexcept { return schedule_.has_value(); }

 private:
  void wait();

  Loop& loop_;
  std::chrono::nanoseconds period_;
  Work tick_;
  std::unique_ptr<Timer> timer_;
  std::optional<Schedule> schedule_;
};

/// The stream of the GPUs. Each GPU is read in its own thread: one that hangs delays no other.
/// Threads: the loop's.
class GpuStream {
 public:
  GpuStream(Gpus& gpus, Loop& loop, const HubOptions& options);
  void subscribe(Subscriber& subscriber, const Ids& ids);
  [[nodiscard]] Stream& stream() noexcept { return stream_; }

 private:
  void tick();
  void take(wire::DeviceId id, const GpuAnswer& answer);
  /// Publishes the answers since the last call, together.
  void publish();

  Gpus& gpus_;
  Loop& loop_;
  Stream stream_;
  struct Asked {
    TimePoint since;              ///< time of the last answer, or of the first question
    bool is_outstanding = false;  ///< false: its thread takes no more questions
  };
  std::map<wire::DeviceId, Asked> asked_;  ///< and not answered yet
  std::vector<PowerChange> answered_;      ///< and not sent yet
  Pace pace_;
};

/// The stream of the CPUs: mean powers between two readings of their counters. Threads: the loop's.
class CpuStream {
 public:
  CpuStream(CpuView& view, Loop& loop, std::chrono::nanoseconds period, wire::StreamFormat format);
  void subscribe(Subscriber& subscriber, const Ids& ids);
  [[nodiscard]] Stream& stream() noexcept { return stream_; }

 private:
  void tick();
  /// The next mean powers start at `now`.
  void keep(CpuStates now);

  CpuView& view_;
  Loop& loop_;
  Stream stream_;
  CpuStates before_;
  Pace pace_;
};

/// The streams, and the periodic reading of counters that wrap. Threads: the loop's.
class Hub {
 public:
  Hub(Gpus& gpus, Cpus& cpus, CpuView& fine, CpuView& coarse, Loop& loop,
      const HubOptions& options);

  [[nodiscard]] GpuStream& gpus() noexcept { return gpus_; }
  [[nodiscard]] CpuStream& cpus() noexcept { return cpus_; }
  /// For callers with public access only: see public_cpu.hpp.
  [[nodiscard]] CpuStream& coarse_cpus() noexcept { return coarse_; }

  /// Call it about once per second while there are subscribers.
  void keep_alive();

 private:
  void keep_counters();

  Loop& loop_;
  Cpus& counters_;
  GpuStream gpus_;
  CpuStream cpus_;
  CpuStream coarse_;
  Pace keeper_;
};

}  // namespace wattle::daemon
