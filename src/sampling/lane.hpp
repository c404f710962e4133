// A thread that reads devices at equal times.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/worker.hpp"
#include "sampling/recorder.hpp"

namespace wattle {

/// Something that a lane reads.
struct LaneTask {
  std::unique_ptr<Recorder> recorder;
  /// Read at every `every`-th tick; at more of them where the lane has slowed down, so that the
  /// period stays the same.
  unsigned every = 1;
  /// The device is asked for its processes as well.
  bool lists_processes = false;
};

struct LaneOptions {
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  /// Reads once when it starts, and then only what it is asked for.
  bool only_when_asked = false;
  /// Reads nothing by itself, but only what `tick` and questions ask for; its thread starts with
  /// the first of these. Nothing else may be asked of such a lane.
  bool sleeps = false;
  /// All tasks are of one device; what is due takes its readings that questions have brought, if
  /// they are at most this old. 0: it reads all by itself.
  std::chrono::nanoseconds longest_age{0};
  /// If reading takes too much of the time, the lane reads less often: its period grows to at most
  /// this many times `period` (see Backoff). 1: never.
  int longest_backoff = 1;
  /// How long the destructor waits for a thread that is busy in a driver.
  std::chrono::nanoseconds patience = std::chrono::milliseconds(200);
};

/// The processes on a device, and when they were asked for.
struct ProcessList {
  TimePoint at;
  std::uint64_t number = 0;  ///< counts the lists of a device, from 1
  /// Absent where the driver does not say.
  std::optional<std::vector<DeviceProcess>> processes;
  /// Likewise.
  std::optional<BusyTime> busy_time{};
};

/// The counters' values at a requested reading that nobody waits for. Threads: any.
class LateBoundaries {
 public:
  using Boundaries = std::vector<std::optional<Boundary>>;

  /// Holds the boundaries of `places` histories.
  explicit LateBoundaries(std::size_t places) : shown_(places) {}
  [[nodiscard]] bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
  /// Absent while the reading is not done, where that history is no counter, or its reading failed.
  [[nodiscard]] std::optional<Boundary> at(std::size_t place) const noexcept {
    return is_done() ? shown_[place] : std::nullopt;
  }
  /// Once, by the thread that reads; as many as there are places. Allocates nothing.
  void set(const Boundaries& shown) noexcept {
    std::ranges::copy(shown, shown_.begin());
    is_done_.store(true, std::memory_order_release);
  }

 private:
  Boundaries shown_;
  std::atomic<bool> is_done_{false};
};

/// Reads its tasks once when it starts and then at absolute deadlines, the first of them at a
/// random time within a period, so that no two runs see a sensor's updates from the same side;
/// ticks that were missed are counted, not repeated. A thread that is stuck in a driver is
/// abandoned: it owns what it touches. All signals are blocked in it. After `fork` the child's copy
/// does nothing. Threads: any; `stop` and the destructor by one.
class Lane {
 public:
  /// Starts the thread; throws `Error` if none can be started. `clock` outlives the thread, which
  /// may be stuck to the end of the process.
  Lane(std::vector<LaneTask> tasks, const LaneOptions& options, const TimeSource& clock);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  /// Stops the thread and waits for it, at most `patience` from the first request to stop: of
  /// several lanes that are stuck only the first is waited for.
  ~Lane();

  /// False while the reading `asked` is not done.
  [[nodiscard]] bool has_answered(std::uint64_t asked) const noexcept;
  /// Asks for a reading of everything, now; the number to wait for.
  std::uint64_t ask() noexcept;
  /// The same, without waiting: what it shows comes when it is done. Null in the child after a
  /// `fork`. Throws `std::bad_alloc`.
  [[nodiscard]] std::shared_ptr<const LateBoundaries> ask_later();
  /// The counters' values of all tasks at the reading `asked`, in the order of the tasks and their
  /// histories; absent where it was not done by `deadline`. An entry is absent where that history
  /// is no counter, or its reading failed.
  using Boundaries = LateBoundaries::Boundaries;
  [[nodiscard]] std::optional<Boundaries> wait_for(std::uint64_t asked, TimePoint deadline);

  /// Asks the device of the first task, in its thread: see `WaitingQuestions`. Threads: one.
  void ask(const DeviceQuestion& question, TimePoint now, WaitingQuestions::Then then,
           const WaitingQuestions::Post& post);
  [[nodiscard]] bool has_waited(TimePoint since) const noexcept {
    return questions_.has_waited(since);
  }
  /// Reads what is due, if the last such reading is done. For a lane that sleeps; called every
  /// `period`: fewer calls count where the device takes too long.
  void tick();

  /// Asks the thread to end and waits until it has, or `patience` has passed: then false.
  bool stop(std::chrono::nanoseconds patience) noexcept;

  /// The thread: for jobs between two readings. It ends with the lane.
  [[nodiscard]] const std::shared_ptr<Worker>& worker() const noexcept { return worker_; }
  [[nodiscard]] const std::vector<LaneTask>& tasks() const noexcept;
  /// The newest list of a task's device; its number is 0 before the first.
  [[nodiscard]] ProcessList processes(std::size_t task) const;
  /// The processor time that the thread has used so far.
  [[nodiscard]] std::chrono::nanoseconds cpu() const noexcept;
  /// Times that the thread has read, and deadlines that it missed.
  [[nodiscard]] std::uint64_t ticks() const noexcept;
  [[nodiscard]] std::uint64_t missed() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::shared_ptr<Worker> worker_;
  WaitingQuestions questions_;
};

}  // namespace wattle
