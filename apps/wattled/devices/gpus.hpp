// The GPUs that the daemon serves, and the requests to their drivers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/worker.hpp"
#include "http/loop.hpp"
#include "sampling/readings.hpp"
#include "sensors/sensor.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

using Ids = std::vector<wire::DeviceId>;

enum class GpuQuestion : std::uint8_t {
  power,           ///< mW
  streamed_power,  ///< mW, for a stream: see `Gpu::streamed_age`
  energy,          ///< mJ since the driver was loaded
  power_limit,
  power_limit_range,
  persistence_mode,
  all,  ///< all channels that are not costly
  processes,
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
/// The driver was called, and has not answered within the time that clients wait.
[[nodiscard]] DeviceFault no_answer();

/// A question in the device's terms: its channels; none, if the device does not offer them. Power
/// for streams may be `streamed_age` old.
[[nodiscard]] DeviceQuestion asked_of(const Sensor& sensor, GpuQuestion question,
                                      std::chrono::nanoseconds streamed_age = {});
/// Why `answer` has no value for the question; absent: it has one. `sensor`: for its properties
/// only, here and below.
[[nodiscard]] std::optional<DeviceFault> fault_of(const DeviceAnswer& answer, const Sensor& sensor,
                                                  GpuQuestion question);
/// The reading that answers a question for power or energy; null: there is none.
[[nodiscard]] const Reading* reading_of(const DeviceAnswer& answer, const Sensor& sensor,
                                        GpuQuestion question);
/// Its value in mW or mJ, by the unit of the question; absent where `fault_of` says why.
[[nodiscard]] std::optional<std::uint64_t> value_of(const DeviceAnswer& answer,
                                                    const Sensor& sensor, GpuQuestion question);

/// One GPU, for threads that may block. Thread-safe.
class GpuHandle {
 public:
  GpuHandle(wire::DeviceId id, std::shared_ptr<Worker> thread, std::shared_ptr<Sensor> sensor)
      : id_(id), thread_(std::move(thread)), sensor_(std::move(sensor)) {}

  [[nodiscard]] wire::DeviceId id() const noexcept { return id_; }
  /// For its properties only.
  [[nodiscard]] const Sensor& sensor() const noexcept { return *sensor_; }
  /// For jobs between two readings.
  [[nodiscard]] Worker& thread() const noexcept { return *thread_; }

  /// Calls `work(sensor)` in the GPU's thread, between two of its readings, and waits for the
  /// result, for as long as the driver takes. Absent: the thread has ended, or cannot be started.
  template <class CalledInThread>
  [[nodiscard]] auto run(CalledInThread work) const
      -> std::optional<std::invoke_result_t<CalledInThread, Sensor&>> {
    using Result = std::invoke_result_t<CalledInThread, Sensor&>;
    auto task = std::make_shared<std::packaged_task<Result(Sensor&)>>(std::move(work));
    std::future<Result> result = task->get_future();
    if (!thread_->add([task = std::move(task), sensor = sensor_] { (*task)(*sensor); })) {
      return std::nullopt;
    }
    try {
      return result.get();
    } catch (const std::future_error&) {
      return std::nullopt;  // the thread has dropped the job
    }
  }

 private:
  wire::DeviceId id_;
  std::shared_ptr<Worker> thread_;
  std::shared_ptr<Sensor> sensor_;
};

/// Threads: the loop's.
class Gpus {
 public:
  struct Gpu {
    wire::GpuEntry entry;
    std::shared_ptr<Sensor> sensor;
    /// The one reader of this device, alone; null: it is read only when it is asked.
    std::shared_ptr<Readings> readings{};
    /// A stream takes readings of others that are at most this old.
    std::chrono::nanoseconds streamed_age{0};
  };
  Gpus(std::vector<Gpu> gpus, Loop& loop);
  /// Serves one more. Its id must be new.
  void add(Gpu gpu);

  [[nodiscard]] std::vector<wire::GpuEntry> entries() const;
  [[nodiscard]] const Ids& ids() const noexcept { return ids_; }
  /// For its properties only: only its thread may read it.
  [[nodiscard]] const Sensor& sensor(wire::DeviceId id) const { return *gpus_.at(id).gpu.sensor; }

  using Answers = std::map<wire::DeviceId, DeviceAnswer>;
  /// Asks all at the same time, and calls `then` when each has answered. A GPU that takes longer
  /// than clients wait is late. `ids`: known ids, each once.
  void ask(const Ids& ids, GpuQuestion question, std::function<void(Answers)> then);

  [[nodiscard]] GpuHandle handle(wire::DeviceId id) const;

  /// Asks one GPU, and calls `then` when it answers; at once if the question is not sent, since the
  /// GPU is stuck, or too many callers wait for the answer.
  void ask_one(wire::DeviceId id, GpuQuestion question, WaitingQuestions::Then then);

  /// True if a GPU failed when it was last asked for the same: it is lost, or its driver does not
  /// answer.
  [[nodiscard]] bool fail() const;
  /// Logs that the driver does not answer: once until it answers, and at most every 10 minutes.
  void report_silent(wire::DeviceId id);

 private:
  struct GatheredAnswers;
  struct Health {
    std::string name;                ///< for the log
    std::set<GpuQuestion> failed{};  ///< whose last answer was a failure
    std::set<GpuQuestion> shown{};   ///< power, energy: they had a value
    bool is_silent = false;          ///< the log has it
    std::optional<TimePoint> reported_at{};
  };
  static void note(Health& health, const DeviceAnswer& answer, const Sensor& sensor,
                   GpuQuestion question);
  struct OwnedGpu {
    Gpu gpu;
    std::shared_ptr<Health> health;  ///< shared with the callbacks, which may outlive this
  };

  Loop& loop_;
  std::map<wire::DeviceId, OwnedGpu> gpus_;
  Ids ids_;
};

}  // namespace wattle::daemon
