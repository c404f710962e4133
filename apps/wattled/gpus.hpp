// The GPUs that the daemon serves, and questions to them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/worker.hpp"
#include "loop.hpp"
#include "sensors/sensor.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

/// What becomes of a job where much waits already.
enum class Crowd : std::uint8_t {
  refuses,  ///< the driver must be stuck
  waits,    ///< it comes after them all: what has to be done before the end
};

using Ids = std::vector<wire::DeviceId>;

enum class GpuQuestion : std::uint8_t {
  power,              ///< mW
  streamed_power,     ///< the same for who asks every period: see `Gpu::paced`
  energy,             ///< mJ since the driver was loaded
  power_limit,        ///< mW
  power_limit_range,  ///< mW: `value` to `high`
  persistence_mode,   ///< 0 or 1
  all,                ///< `readings`, but for what is costly
};

/// Why a device has no value: a status of HTTP, and a sentence.
struct DeviceFault {
  unsigned status = 500;
  std::string message;
};

/// A fault that a driver reports: NVML is the library of NVIDIA's GPUs alone, and zeusd's clients
/// know its errors by this word.
[[nodiscard]] DeviceFault driver_fault(unsigned status, const Sensor& sensor,
                                       std::string_view what);

struct GpuAnswer {
  std::uint64_t value = 0;
  std::uint64_t high = 0;
  TimePoint at{};
  std::optional<DeviceFault> fault{};
  std::vector<Reading> readings{};  ///< one for each channel of the sensor
};

/// What a sensor says to a question; in whatever thread may wait for its driver.
[[nodiscard]] GpuAnswer ask(Sensor& sensor, GpuQuestion question);

/// Threads: the loop's.
class Gpus {
 public:
  struct Gpu {
    wire::GpuEntry entry;
    std::shared_ptr<Sensor> sensor;
    /// The same device, for who reads it every period; null: `sensor`.
    std::shared_ptr<Sensor> paced{};
    /// Its thread, if it has one; null: one is started for the first question.
    std::shared_ptr<Worker> thread{};
  };
  Gpus(std::vector<Gpu> gpus, Loop& loop);

  [[nodiscard]] std::vector<wire::GpuEntry> entries() const;
  [[nodiscard]] const Ids& ids() const noexcept { return ids_; }
  /// Only to be looked at, not asked: that is for its thread.
  [[nodiscard]] const Sensor& sensor(wire::DeviceId id) const { return *gpus_.at(id).sensor; }

  using Answers = std::map<wire::DeviceId, GpuAnswer>;
  /// Asks all at the same time and calls `then` when each has answered. One that takes longer than
  /// a client would wait counts as one that fails. `ids` are known ones, each once.
  void ask(const Ids& ids, GpuQuestion question, std::function<void(Answers)> then);

  /// Does something in the thread of each, one GPU at a time there, and calls `then` when each has
  /// answered or `patience` is over. `job` must not throw, and owns what it needs.
  using Job = std::function<GpuAnswer(wire::DeviceId, Sensor&)>;
  void act(const Ids& ids, const Job& job, std::chrono::nanoseconds patience,
           std::function<void(Answers)> then, Crowd crowd = Crowd::refuses);

  /// Asks one GPU for its power, and calls `then` whenever that answers. False where it is stuck.
  [[nodiscard]] bool ask_power(wire::DeviceId id, std::function<void(const GpuAnswer&)> then);

 private:
  struct Round;
  struct Asked;
  struct Served {
    wire::GpuEntry entry;
    std::shared_ptr<Sensor> sensor;
    std::shared_ptr<Sensor> paced;
    std::shared_ptr<Worker> thread;
    std::map<GpuQuestion, std::shared_ptr<Asked>> asked{};  ///< the newest of each kind
  };
  /// Calls `begin` with each GPU, and with what takes its answer; false: there will be none.
  using Begin = std::function<bool(wire::DeviceId, std::function<void(const GpuAnswer&)>)>;
  void gather(const Ids& ids, std::chrono::nanoseconds patience, const Begin& begin,
              std::function<void(Answers)> then);
  /// Does `job` in the GPU's thread; false where so many wait already that the driver must be
  /// stuck.
  [[nodiscard]] static bool begin(const std::shared_ptr<Worker>& thread,
                                  const std::shared_ptr<Sensor>& sensor,
                                  std::function<void(Sensor&)> job, Crowd crowd);
  /// False as well where too many wait for the answer.
  [[nodiscard]] bool ask_one(wire::DeviceId id, GpuQuestion question,
                             std::function<void(const GpuAnswer&)> then);

  Loop& loop_;
  std::map<wire::DeviceId, Served> gpus_;
  Ids ids_;
};

}  // namespace wattle::daemon
