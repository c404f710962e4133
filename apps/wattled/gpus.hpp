// The GPUs that the daemon serves, and the requests to their drivers.
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

/// What happens to a job if many jobs wait already.
enum class WhenBusy : std::uint8_t {
  refuse,  ///< the driver must be stuck
  wait,    ///< it runs after them: for work that must be done before the daemon ends
};

using Ids = std::vector<wire::DeviceId>;

enum class GpuQuestion : std::uint8_t {
  power,              ///< mW
  streamed_power,     ///< mW, for a stream: see `Gpu::paced`
  energy,             ///< mJ since the driver was loaded
  power_limit,        ///< mW
  power_limit_range,  ///< mW: `value` to `high`
  persistence_mode,   ///< 0 or 1
  all,                ///< `readings`, without costly channels
};

/// Why a device has no value: an HTTP status and a sentence.
struct DeviceFault {
  unsigned status = 500;
  std::string message;
};

/// A fault that a driver reports. For NVIDIA GPUs the message has the word NVML, by which zeusd's
/// clients recognize its errors.
[[nodiscard]] DeviceFault driver_fault(unsigned status, const Sensor& sensor,
                                       std::string_view what);

struct GpuAnswer {
  std::uint64_t value = 0;
  std::uint64_t high = 0;
  TimePoint at{};
  std::optional<DeviceFault> fault{};
  std::vector<Reading> readings{};  ///< one for each channel of the sensor
};

/// Asks the sensor. Blocks while its driver does.
[[nodiscard]] GpuAnswer ask(Sensor& sensor, GpuQuestion question);

/// Threads: the loop's.
class Gpus {
 public:
  struct Gpu {
    wire::GpuEntry entry;
    std::shared_ptr<Sensor> sensor;
    /// The same device, for streams, which read it every period; null: use `sensor`.
    std::shared_ptr<Sensor> paced{};
    /// The thread that reads it; null: the first question starts one.
    std::shared_ptr<Worker> thread{};
  };
  Gpus(std::vector<Gpu> gpus, Loop& loop);

  [[nodiscard]] std::vector<wire::GpuEntry> entries() const;
  [[nodiscard]] const Ids& ids() const noexcept { return ids_; }
  /// For its properties only: only its thread may read it.
  [[nodiscard]] const Sensor& sensor(wire::DeviceId id) const { return *gpus_.at(id).sensor; }

  using Answers = std::map<wire::DeviceId, GpuAnswer>;
  /// Asks all at the same time, and calls `then` when each has answered. A GPU that takes longer
  /// than clients wait counts as failed. `ids`: known ids, each once.
  void ask(const Ids& ids, GpuQuestion question, std::function<void(Answers)> then);

  /// Runs `job` in the thread of each GPU. Calls `then` when each has answered or `patience` is
  /// over. `job` must not throw, and must own what it uses.
  using Job = std::function<GpuAnswer(wire::DeviceId, Sensor&)>;
  void run_in_threads(const Ids& ids, const Job& job, std::chrono::nanoseconds patience,
                      std::function<void(Answers)> then, WhenBusy when_busy = WhenBusy::refuse);

  /// Asks one GPU, and calls `then` when it answers. False: the GPU is stuck, or too many callers
  /// wait for the answer.
  [[nodiscard]] bool ask_one(wire::DeviceId id, GpuQuestion question,
                             std::function<void(const GpuAnswer&)> then);

  /// True if a GPU failed when it was last asked: it is lost, or its driver does not answer.
  [[nodiscard]] bool fail() const;

 private:
  struct GatheredAnswers;
  struct PendingQuestion;
  struct Served {
    wire::GpuEntry entry;
    std::shared_ptr<Sensor> sensor;
    std::shared_ptr<Sensor> paced;
    std::shared_ptr<Worker> thread;
    std::map<GpuQuestion, std::shared_ptr<PendingQuestion>> pending{};  ///< the newest of each kind
    /// Its last answer was a failure. Shared with the callbacks, which may outlive this.
    std::shared_ptr<bool> has_failed = std::make_shared<bool>(false);
  };
  /// Starts the work on one GPU, and calls the function with its answer. False: no answer will
  /// come.
  using Begin = std::function<bool(wire::DeviceId, std::function<void(const GpuAnswer&)>)>;
  void gather(const Ids& ids, std::chrono::nanoseconds patience, const Begin& begin,
              std::function<void(Answers)> then);
  /// Runs `job` in the GPU's thread. False: too many jobs wait, so the driver must be stuck.
  [[nodiscard]] static bool begin(const std::shared_ptr<Worker>& thread,
                                  const std::shared_ptr<Sensor>& sensor,
                                  std::function<void(Sensor&)> job, WhenBusy when_busy);

  Loop& loop_;
  std::map<wire::DeviceId, Served> gpus_;
  Ids ids_;
};

}  // namespace wattle::daemon
