#include "sampling/lane.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <random>
#include <system_error>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/forks.hpp"
#include "base/thread.hpp"
#include "sampling/schedule.hpp"
#include "wattle/error.hpp"

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
  State(std::vector<LaneTask> work, const LaneOptions& chosen, const Clock& time)
      : tasks(std::move(work)),
        options(chosen),
        phase(random_part_of(chosen.period)),
        clock(time),
        lists(tasks.size()) {
    std::size_t count = 0;
    for (const LaneTask& task : tasks) count += task.recorder->histories().size();
    boundaries.resize(count);
  }

  void run() noexcept;
  /// A tick that was due took `busy` of the time since the one before.
  void adapt(Backoff& backoff, Schedule& schedule, nanoseconds busy, nanoseconds elapsed) noexcept;
  void read(std::uint64_t tick, bool all, int factor) noexcept;
  void list_processes(std::size_t task) noexcept;
  /// Leaves what the counters show now for whoever asked.
  void answer(std::uint64_t number) noexcept;

  std::vector<LaneTask> tasks;
  const LaneOptions options;
  const nanoseconds phase;  ///< of the deadlines
  const Clock& clock;
  std::atomic<std::uint64_t> ticks{0};
  std::atomic<std::uint64_t> missed{0};

  std::mutex mutex;
  std::condition_variable wake;      ///< of the thread
  std::condition_variable answered;  ///< to who waits for it
  bool stopping = false;
  std::chrono::steady_clock::time_point stop_asked;
  bool ended = false;
  std::optional<clockid_t> cpu_clock;  ///< of the thread, while it runs
  nanoseconds cpu_at_end{0};
  std::uint64_t asked_number = 1;  ///< the first reading is asked for by nobody
  std::uint64_t answered_number = 0;
  Boundaries boundaries;           ///< of the reading `answered_number`
  std::vector<ProcessList> lists;  ///< one for each task
};

void Lane::State::run() noexcept {
  if (clockid_t own = 0; ::pthread_getcpuclockid(::pthread_self(), &own) == 0) {
    const std::scoped_lock lock(mutex);
    cpu_clock = own;
  }
  Schedule schedule(clock.now() - phase, options.period);
  Backoff backoff(options.longest_backoff);
  SuspendWatch suspend(clock);
  TimePoint last_begin = clock.now();
  std::uint64_t number = 0;
  while (true) {
    bool asked = false;
    {
      std::unique_lock lock(mutex);
      const auto is_wanted = [&] { return stopping || asked_number != answered_number; };
      if (options.only_when_asked) {
        wake.wait(lock, is_wanted);
      } else {
        wake.wait_until(lock, schedule.next(), is_wanted);
      }
      if (stopping) break;
      asked = asked_number != answered_number;
      number = asked_number;
    }
    const TimePoint begin = clock.now();
    const bool due = !options.only_when_asked && begin >= schedule.next();
    if (suspend.was_suspended()) {
      for (const LaneTask& task : tasks) task.recorder->note_suspend();
    }
    read(ticks, asked, backoff.factor());
    if (asked) answer(number);
    if (due) {
      const TimePoint end = clock.now();
      if (options.longest_backoff > 1) adapt(backoff, schedule, end - begin, begin - last_begin);
      last_begin = begin;
      schedule.advance(end);
      missed.store(schedule.missed(), std::memory_order_relaxed);
    }
    ticks.fetch_add(1, std::memory_order_relaxed);
  }
  const std::scoped_lock lock(mutex);
  cpu_at_end = cpu_time_of_this_thread();
  cpu_clock.reset();
  ended = true;
  answered.notify_all();
}

void Lane::State::adapt(Backoff& backoff, Schedule& schedule, nanoseconds busy,
                        nanoseconds elapsed) noexcept {
  const int factor = backoff.factor();
  backoff.add(busy, elapsed);
  if (backoff.factor() == factor) return;
  const nanoseconds period = options.period * backoff.factor();
  schedule.set_period(period);
  for (const LaneTask& task : tasks) {
    task.recorder->set_period(period * ticks_between(task, backoff.factor()));
  }
}

void Lane::State::read(std::uint64_t tick, bool all, int factor) noexcept {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const LaneTask& task = tasks[i];
    if (!all && tick % ticks_between(task, factor) != 0) continue;
    task.recorder->read();
    if (task.lists_processes) list_processes(i);
  }
}

void Lane::State::list_processes(std::size_t task) noexcept {
  try {
    auto processes = tasks[task].recorder->sensor().processes();
    const std::scoped_lock lock(mutex);
    lists[task] = {
        .at = clock.now(), .number = lists[task].number + 1, .processes = std::move(processes)};
  } catch (const std::exception&) {
    // Out of memory: there is no list this time.
  }
}

// Who is woken up needs the lock at once: here and below it is given back before.

void Lane::State::answer(std::uint64_t number) noexcept {
  std::unique_lock lock(mutex);
  std::size_t i = 0;
  for (const LaneTask& task : tasks) {
    for (const History& history : task.recorder->histories()) {
      boundaries[i++] = history.is_counter() && history.is_fresh() ? history.last() : std::nullopt;
    }
  }
  answered_number = number;
  lock.unlock();
  answered.notify_all();
}

Lane::Lane(std::vector<LaneTask> tasks, const LaneOptions& options, const Clock& clock)
    : state_(std::make_shared<State>(std::move(tasks), options, clock)), forks_(forks()) {
  try {
    start_detached([state = state_] { state->run(); });
  } catch (const std::system_error& error) {
    throw Error("cannot start a thread to read devices with: " + error.code().message());
  }
}

Lane::~Lane() {
  if (forks_ != forks()) {
    // What the parent's sensors hold of a driver is not this process's to give back.
    static_cast<void>(new (std::nothrow) std::shared_ptr<State>(std::move(state_)));
    return;
  }
  (void)stop(nanoseconds(0));
  std::unique_lock lock(state_->mutex);
  state_->answered.wait_until(lock, state_->stop_asked + state_->options.patience,
                              [&] { return state_->ended; });
}

bool Lane::has_answered(std::uint64_t asked) const noexcept {
  if (forks_ != forks()) return false;
  const std::scoped_lock lock(state_->mutex);
  return state_->answered_number >= asked;
}

std::uint64_t Lane::ask() noexcept {
  if (forks_ != forks()) return 0;
  std::unique_lock lock(state_->mutex);
  const std::uint64_t asked = ++state_->asked_number;
  lock.unlock();
  state_->wake.notify_one();
  return asked;
}

std::optional<Lane::Boundaries> Lane::wait_for(std::uint64_t asked, TimePoint deadline) {
  if (forks_ != forks()) return std::nullopt;
  std::unique_lock lock(state_->mutex);
  const auto is_done = [&] { return state_->answered_number >= asked; };
  if (!state_->answered.wait_until(lock, deadline, is_done)) return std::nullopt;
  return state_->boundaries;
}

bool Lane::stop(nanoseconds patience) noexcept {
  if (forks_ != forks()) return true;
  std::unique_lock lock(state_->mutex);
  if (!state_->stopping) state_->stop_asked = std::chrono::steady_clock::now();
  state_->stopping = true;
  state_->wake.notify_one();
  return state_->answered.wait_for(lock, patience, [&] { return state_->ended; });
}

const std::vector<LaneTask>& Lane::tasks() const noexcept { return state_->tasks; }

ProcessList Lane::processes(std::size_t task) const {
  if (forks_ != forks()) return {};
  const std::scoped_lock lock(state_->mutex);
  return state_->lists.at(task);
}

nanoseconds Lane::cpu() const noexcept {
  if (forks_ != forks()) return nanoseconds(0);
  const std::scoped_lock lock(state_->mutex);
  const auto clock = state_->cpu_clock;
  const auto used = clock ? cpu_time(*clock) : std::nullopt;
  return used.value_or(state_->cpu_at_end);
}

std::uint64_t Lane::ticks() const noexcept { return state_->ticks.load(std::memory_order_relaxed); }
std::uint64_t Lane::missed() const noexcept {
  return state_->missed.load(std::memory_order_relaxed);
}

}  // namespace wattle
