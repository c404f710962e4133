#include "sampling/lane.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <utility>

#include "base/schedule.hpp"

namespace wattle {

using std::chrono::nanoseconds;

namespace {

unsigned ticks_between(const LaneTask& task, int factor) noexcept {
  return std::max(1U, task.every / static_cast<unsigned>(factor));
}

/// From 0 to `period`.
nanoseconds random_part_of(nanoseconds period) {
  std::random_device device;
  return nanoseconds(std::uniform_int_distribution<std::int64_t>(0, period.count())(device));
}

}  // namespace

/// Shared by the lane and its thread, so that either can be the last to let go.
struct Lane::State {
  State(std::vector<LaneTask> work, const LaneOptions& chosen, const TimeSource& time)
      : tasks(std::move(work)),
        options(chosen),
        clock(time),
        newest(tasks.front().recorder->sensor(), time),
        schedule(time.now() - random_part_of(chosen.period), chosen.period),
        backoff(chosen.longest_backoff),
        suspend(time),
        last_begin(time.now()),
        asked_number(chosen.sleeps ? 0 : 1),
        lists(tasks.size()) {
    std::size_t count = 0;
    for (const LaneTask& task : tasks) count += task.recorder->histories().size();
    boundaries.resize(count);
  }

  /// Reads what is asked for or due; the next deadline.
  [[nodiscard]] TimePoint turn() noexcept;
  /// Reads what is due at a call of `Lane::tick`.
  void tick() noexcept;
  /// A tick that was due took `busy` of the time since the one before.
  void adapt(nanoseconds busy, nanoseconds elapsed) noexcept;
  void read(bool all) noexcept;
  void list_processes(std::size_t task) noexcept;
  /// Stores what the counters show now for the callers that wait.
  void answer(std::uint64_t number) noexcept;

  std::vector<LaneTask> tasks;
  const LaneOptions options;
  const TimeSource& clock;
  std::atomic<std::uint64_t> ticks{0};
  std::atomic<std::uint64_t> missed{0};

  std::atomic<bool> is_ticking{false};  ///< `tick` was called, and is not done

  // The thread's own.
  NewestReadings newest;    ///< of the first task's device
  std::uint64_t calls = 0;  ///< of `tick`
  Schedule schedule;
  Backoff backoff;
  SuspendWatch suspend;
  TimePoint last_begin;

  std::mutex mutex;
  std::condition_variable answered;  ///< to who waits for it
  std::uint64_t asked_number;        ///< the first reading, of a lane that has one, has no caller
  std::uint64_t answered_number = 0;
  Boundaries boundaries;  ///< of the reading `answered_number`
  struct Later {
    std::uint64_t number;
    std::shared_ptr<LateBoundaries> shown;
  };
  std::vector<Later> later;        ///< readings that were asked for and are not done
  std::vector<ProcessList> lists;  ///< one for each task
};

TimePoint Lane::State::turn() noexcept {
  std::unique_lock lock(mutex);
  const std::uint64_t number = asked_number;
  const bool asked = number != answered_number;
  lock.unlock();
  const TimePoint begin = clock.now();
  const bool due = !options.only_when_asked && begin >= schedule.next();
  if (asked || due) {
    read(asked);
    if (asked) answer(number);
    ticks.fetch_add(1, std::memory_order_relaxed);
  }
  if (due) {
    const TimePoint end = clock.now();
    if (options.longest_backoff > 1) adapt(end - begin, begin - last_begin);
    last_begin = begin;
    schedule.advance(end);
    missed.store(schedule.missed(), std::memory_order_relaxed);
  }
  return options.only_when_asked ? TimePoint::max() : schedule.next();
}

void Lane::State::tick() noexcept {
  if (calls++ % static_cast<std::uint64_t>(backoff.factor()) != 0) return;
  const TimePoint begin = clock.now();
  read(false);
  ticks.fetch_add(1, std::memory_order_relaxed);
  if (options.longest_backoff > 1) adapt(clock.now() - begin, begin - last_begin);
  last_begin = begin;
}

void Lane::State::adapt(nanoseconds busy, nanoseconds elapsed) noexcept {
  const int factor = backoff.factor();
  backoff.add(busy, elapsed);
  if (backoff.factor() == factor) return;
  const nanoseconds period = options.period * backoff.factor();
  schedule.set_period(period);
  for (const LaneTask& task : tasks) {
    task.recorder->set_period(period * ticks_between(task, backoff.factor()));
  }
}

void Lane::State::read(bool all) noexcept {
  if (suspend.was_suspended()) {
    newest.forget();
    for (const LaneTask& task : tasks) task.recorder->note_suspend();
  }
  const bool shares = options.longest_age > nanoseconds(0);
  const nanoseconds longest_age = all ? nanoseconds(0) : options.longest_age;
  const std::uint64_t tick = ticks.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const LaneTask& task = tasks[i];
    if (!all && tick % ticks_between(task, backoff.factor()) != 0) continue;
    shares ? task.recorder->read(newest, longest_age) : task.recorder->read();
    if (task.lists_processes) list_processes(i);
  }
}

void Lane::State::list_processes(std::size_t task) noexcept {
  try {
    Sensor& sensor = *tasks[task].recorder->sensor();
    auto processes = sensor.processes();
    const auto busy_time = sensor.busy_time();
    const std::scoped_lock lock(mutex);
    lists[task] = {.at = clock.now(),
                   .number = lists[task].number + 1,
                   .processes = std::move(processes),
                   .busy_time = busy_time};
  } catch (const std::exception&) {
    // Out of memory: there is no list this time.
  }
}

// A thread that is woken up needs the lock: here and below it is released before.

void Lane::State::answer(std::uint64_t number) noexcept {
  std::unique_lock lock(mutex);
  std::size_t i = 0;
  for (const LaneTask& task : tasks) {
    for (const History& history : task.recorder->histories()) {
      boundaries[i++] = history.is_counter() && history.is_fresh() ? history.last() : std::nullopt;
    }
  }
  answered_number = number;
  std::erase_if(later, [&](const Later& asked) {
    if (asked.number > number) return false;
    asked.shown->set(boundaries);
    return true;
  });
  lock.unlock();
  answered.notify_all();
}

Lane::Lane(std::vector<LaneTask> tasks, const LaneOptions& options, const TimeSource& clock)
    : state_(std::make_shared<State>(std::move(tasks), options, clock)),
      worker_(options.sleeps ? std::make_shared<Worker>()
                             : std::make_shared<Worker>([state = state_] { return state->turn(); },
                                                        "a thread to read devices with")) {}

Lane::~Lane() {
  // A forked child must not release the driver resources of its parent's sensors.
  if (worker_->is_copy()) {
    leak(state_);
  } else {
    (void)worker_->stop(state_->options.patience);
  }
}

bool Lane::has_answered(std::uint64_t asked) const noexcept {
  if (worker_->is_copy()) return false;
  const std::scoped_lock lock(state_->mutex);
  return state_->answered_number >= asked;
}

std::uint64_t Lane::ask() noexcept {
  if (worker_->is_copy()) return 0;
  std::unique_lock lock(state_->mutex);
  const std::uint64_t asked = ++state_->asked_number;
  lock.unlock();
  worker_->wake();
  return asked;
}

std::shared_ptr<const LateBoundaries> Lane::ask_later() {
  if (worker_->is_copy()) return nullptr;
  std::unique_lock lock(state_->mutex);
  auto shown = std::make_shared<LateBoundaries>(state_->boundaries.size());
  state_->later.push_back({.number = state_->asked_number + 1, .shown = shown});
  ++state_->asked_number;
  lock.unlock();
  worker_->wake();
  return shown;
}

std::optional<Lane::Boundaries> Lane::wait_for(std::uint64_t asked, TimePoint deadline) {
  if (worker_->is_copy()) return std::nullopt;
  std::unique_lock lock(state_->mutex);
  const auto is_done = [&] { return state_->answered_number >= asked; };
  if (!state_->answered.wait_until(lock, deadline, is_done)) return std::nullopt;
  return state_->boundaries;
}

void Lane::ask(const DeviceQuestion& question, TimePoint now, WaitingQuestions::Then then,
               const WaitingQuestions::Post& post) {
  const auto answer = [state = state_](const DeviceQuestion& asked) {
    return answer_of(state->newest, asked);
  };
  questions_.ask(*worker_, answer, question, now, std::move(then), post);
}

void Lane::tick() {
  if (!state_->options.sleeps || state_->is_ticking.exchange(true)) return;
  const auto work = [state = state_] {
    state->tick();
    state->is_ticking = false;
  };
  if (!worker_->add(work)) state_->is_ticking = false;
}

bool Lane::stop(nanoseconds patience) noexcept { return worker_->stop(patience); }

nanoseconds Lane::cpu() const noexcept { return worker_->cpu(); }

const std::vector<LaneTask>& Lane::tasks() const noexcept { return state_->tasks; }

ProcessList Lane::processes(std::size_t task) const {
  if (worker_->is_copy()) return {};
  const std::scoped_lock lock(state_->mutex);
  return state_->lists.at(task);
}

std::uint64_t Lane::ticks() const noexcept { return state_->ticks.load(std::memory_order_relaxed); }
std::uint64_t Lane::missed() const noexcept {
  return state_->missed.load(std::memory_order_relaxed);
}

}  // namespace wattle
