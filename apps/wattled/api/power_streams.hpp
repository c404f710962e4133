// Reads devices while their streams have subscribers, and publishes the powers.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "devices/cpus.hpp"
#include "devices/gpus.hpp"
#include "http/loop.hpp"
#include "http/pace.hpp"
#include "http/stream.hpp"

namespace wattle::daemon {

/// How often the devices of the streams are read, and the format of the events.
struct StreamRates {
  std::chrono::nanoseconds gpu_period = std::chrono::milliseconds(50);
  std::chrono::nanoseconds cpu_period = std::chrono::milliseconds(100);
  wire::StreamFormat format = wire::StreamFormat::per_device;
};

/// The stream of the GPUs. Each GPU is read in its own thread: one that hangs delays no other.
/// Threads: the loop's.
class GpuStream {
 public:
  GpuStream(Gpus& gpus, Loop& loop, const StreamRates& options);
  /// As `Stream::subscribe`.
  void subscribe(Subscriber& subscriber, const Ids& ids, std::chrono::milliseconds hold = {});
  [[nodiscard]] Stream& stream() noexcept { return stream_; }

 private:
  void tick();
  void take(wire::DeviceId id, const DeviceAnswer& answer);
  /// Publishes the answers since the last call, together.
  void publish();

  Gpus& gpus_;
  Loop& loop_;
  Stream stream_;
  struct OpenQuestion {
    TimePoint since;              ///< time of the last answer, or of the first question
    bool is_outstanding = false;  ///< false: its thread takes no more questions
  };
  std::map<wire::DeviceId, OpenQuestion> open_questions_;  ///< without an answer yet
  std::vector<PowerChange> unsent_;                        ///< answers that are not sent yet
  Pace pace_;
};

/// The stream of the CPUs: mean powers between two readings of their counters. Threads: the loop's.
class CpuStream {
 public:
  CpuStream(CpuView& view, Loop& loop, std::chrono::nanoseconds period, wire::StreamFormat format);
  /// As `Stream::subscribe`.
  void subscribe(Subscriber& subscriber, const Ids& ids, std::chrono::milliseconds hold = {});
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

}  // namespace wattle::daemon
