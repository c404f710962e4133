// Reads devices while somebody listens to their stream, and tells the listeners.
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

/// Calls something at equal times while there is reason to. Threads: the loop's.
class Pace {
 public:
  Pace(Loop& loop, std::chrono::nanoseconds period, Work tick)
      : loop_(loop), period_(period), tick_(std::move(tick)), timer_(loop.make_timer()) {}
  /// The first tick comes a period from now. Does nothing where it runs.
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

/// The stream of the GPUs. Each is asked in its own thread: one that hangs delays no other.
class GpuStream {
 public:
  GpuStream(Gpus& gpus, Loop& loop, const HubOptions& options);
  void subscribe(Subscriber& subscriber, const Ids& ids);
  [[nodiscard]] Stream& stream() noexcept { return stream_; }

 private:
  void tick();
  void take(wire::DeviceId id, const GpuAnswer& answer);
  /// Tells what was answered since the last time, all in one.
  void publish();

  Gpus& gpus_;
  Loop& loop_;
  Stream stream_;
  struct Asked {
    TimePoint since;              ///< no answer came since then
    bool is_outstanding = false;  ///< false: its thread took no more questions
  };
  std::map<wire::DeviceId, Asked> asked_;  ///< and not answered yet
  std::vector<PowerChange> answered_;      ///< and not sent yet
  Pace pace_;
};

/// The stream of the CPUs: mean powers between two looks at their counters.
class CpuStream {
 public:
  CpuStream(CpuView& view, Loop& loop, std::chrono::nanoseconds period, wire::StreamFormat format);
  void subscribe(Subscriber& subscriber, const Ids& ids);
  [[nodiscard]] Stream& stream() noexcept { return stream_; }

 private:
  void tick();
  /// The next powers are means since these.
  void keep(CpuStates now);

  CpuView& view_;
  Loop& loop_;
  Stream stream_;
  CpuStates before_;
  Pace pace_;
};

/// All that is read over and over. Threads: the loop's.
class Hub {
 public:
  Hub(Gpus& gpus, Cpus& cpus, CpuView& fine, CpuView& coarse, Loop& loop,
      const HubOptions& options);

  [[nodiscard]] GpuStream& gpus() noexcept { return gpus_; }
  [[nodiscard]] CpuStream& cpus() noexcept { return cpus_; }
  /// For who sees the public part alone: see public_cpu.hpp.
  [[nodiscard]] CpuStream& coarse_cpus() noexcept { return coarse_; }

  /// To be called about once a second while there are subscribers.
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
