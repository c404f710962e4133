// Questions to one device: what is asked, what it answers, and which callers wait for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/worker.hpp"
#include "sensors/sensor.hpp"

namespace wattle {

/// All that is asked of a device at one time.
struct DeviceQuestion {
  ChannelSet channels{};
  /// Readings at most this old answer it, also those for another reader; 0: only newer ones than
  /// the question.
  std::chrono::nanoseconds longest_age{0};
  bool settings = false;
  bool processes = false;

  friend bool operator==(const DeviceQuestion&, const DeviceQuestion&) = default;
};

/// How a question ended.
enum class QuestionEnd : std::uint8_t {
  answered,
  not_sent,  ///< the device has not answered many earlier ones, or has no thread
  too_many,  ///< too many callers wait for this answer
  late,      ///< it was sent, and the caller waits no longer
};

/// Without values, unless it was answered.
struct DeviceAnswer {
  QuestionEnd end = QuestionEnd::answered;
  std::vector<Reading> readings{};  ///< one for each channel; of others than asked for: `retry`
  DeviceSettings settings{};
  /// Who uses it; absent: it was not asked for, or the driver does not list them.
  std::optional<std::vector<DeviceProcess>> processes{};
};

/// The newest reading of each channel of a device: its readers, each at a period of its own, take
/// what another one has just read. So the device is read about as often as the fastest of them
/// asks. Threads: the device's.
class NewestReadings {
 public:
  /// `clock` outlives it.
  NewestReadings(std::shared_ptr<Sensor> sensor, const TimeSource& clock)
      : sensor_(std::move(sensor)),
        clock_(clock),
        newest_(sensor_->channels().size()),
        got_(newest_.size()) {}

  [[nodiscard]] Sensor& sensor() const noexcept { return *sensor_; }
  /// Fills the readings of `wanted`. Asks the device for those that are older than `longest_age`;
  /// 0: for all of them. Allocates nothing.
  void read(ChannelSet wanted, std::chrono::nanoseconds longest_age,
            std::span<Reading> readings) noexcept;
  /// The machine was suspended: the clock stood still, and nothing is as new as it seems.
  void forget() noexcept {
    for (Reading& reading : newest_) reading.at = {};
  }

 private:
  std::shared_ptr<Sensor> sensor_;
  const TimeSource& clock_;
  std::vector<Reading> newest_;  ///< of each channel; before the first its time is the epoch
  std::vector<Reading> got_;     ///< reused
};

/// Asks the device, for as long as its driver takes. Threads: the device's.
[[nodiscard]] DeviceAnswer answer_of(NewestReadings& device, const DeviceQuestion& question);

/// The callers that wait for answers of one device. Equal questions that are not being asked yet
/// share an answer: it is newer than each of them, and any number of them costs at most two calls
/// of the driver. Threads: one at a time.
class WaitingQuestions {
 public:
  using Then = std::function<void(const DeviceAnswer&)>;
  /// Runs work in the thread that asks. Threads: any.
  using Post = std::function<void(std::function<void()>)>;
  /// Asks the device, in its thread. Owns what it uses.
  using Answer = std::function<DeviceAnswer(const DeviceQuestion&)>;

  /// Most callers that wait for one answer: a device that hangs for hours must not collect
  /// repeated requests without limit.
  static constexpr std::size_t kMostWaiting = 4096;
  /// Each kind of question has at most one call in progress and one that waits, and a setting
  /// takes one place: so there are more only if the driver is stuck.
  static constexpr std::size_t kMostJobs = 16;

  /// Asks in `thread`, and posts `then` with the answer; calls it at once if the question is not
  /// sent. `now` is only compared with the time of `has_waited`.
  void ask(Worker& thread, const Answer& answer, const DeviceQuestion& question, TimePoint now,
           Then then, const Post& post);
  /// True if a caller who asked at `since`, or before, still waits.
  [[nodiscard]] bool has_waited(TimePoint since) const noexcept;

 private:
  struct OpenAnswer {
    OpenAnswer(const DeviceQuestion& of, TimePoint now) : question(of), asked(now) {}
    const DeviceQuestion question;
    const TimePoint asked;
    std::atomic<bool> has_begun{false};
    std::vector<Then> waiting{};  ///< only for the thread that asks
  };
  /// Those that somebody waits for; what has been answered is removed by the next question.
  std::vector<std::shared_ptr<OpenAnswer>> open_{};
};

}  // namespace wattle
