// The tracker's thread, and its states.
#include "wattle/tracker.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <exception>
#include <ostream>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "base/cpu_time.hpp"
#include "base/forks.hpp"
#include "base/json/enum_table.hpp"
#include "base/log.hpp"
#include "base/schedule.hpp"
#include "base/thread.hpp"
#include "usage/tracked_process.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// The cost of all trackers of this process so far, and the number of their threads: no tracker of
/// this process counts another, or itself.
struct AllTrackers {
  std::atomic<std::int64_t> cpu_ns{0};
  std::atomic<std::uint64_t> threads{0};
};

AllTrackers& all_trackers() noexcept {
  static AllTrackers all;
  return all;
}

TrackerCost cost_of_all() noexcept {
  return {.cpu = nanoseconds(all_trackers().cpu_ns.load()),
          .threads = all_trackers().threads.load()};
}

/// Readable when the process has ended; none where the kernel has no such thing (before 5.3).
Fd open_process(int pid) noexcept {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// Waits for one of the two, or until a time; a descriptor of -1 never comes.
void wait_for(int stop, int target, std::optional<nanoseconds> longest) noexcept {
  std::array<pollfd, 2> waiting = {pollfd{stop, POLLIN, 0}, pollfd{target, POLLIN, 0}};
  timespec time{};
  if (longest) {
    const auto left = std::max(*longest, nanoseconds(0));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    time = {.tv_sec = whole.count(), .tv_nsec = (left - whole).count()};
  }
  (void)::ppoll(waiting.data(), waiting.size(), longest ? &time : nullptr, nullptr);
}

}  // namespace

/// The thread owns what it touches only between `start` and `stop`, which waits for it.
class Tracker::Impl {
 public:
  explicit Impl(const TrackerOptions& options)
      : period_(options.sleep_time),
        logs_(!options.disable_logs),
        is_own_(is_own_procfs(options.system)),
        observation_(observe_process(options, machine_clock())),
        forks_(forks()) {}

  void start();
  void stop();

  [[nodiscard]] bool is_copy() const noexcept { return forks_ != forks(); }

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  [[nodiscard]] const ResourceUsage& usage() const noexcept { return usage_; }

 private:
  void run() noexcept;
  void publish(const TrackerCost& own) noexcept;
  void publish_cost() noexcept;
  [[nodiscard]] TrackerCost cost_since_start() const noexcept;

  State state_ = State::NEW;
  std::atomic<bool> has_ended_{false};
  ResourceUsage usage_;
  nanoseconds period_;
  bool logs_;
  bool is_own_;
  UsageObservation observation_;
  std::uint64_t forks_;  ///< when it was made
  Fd stop_;
  Fd target_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  nanoseconds gpu_cpu_before_{0};  ///< what its threads took until the start was done
  TrackerCost own_;                ///< the part of it in that of all
  TrackerCost before_;             ///< what all took before the start
};

void Tracker::Impl::start() {
  if (state_ != State::NEW) {
    throw InvalidState(state_ == State::STARTED
                           ? "cannot start the tracker: it was started already"
                           : "cannot start the tracker: it was stopped; make another one");
  }
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_) {
    throw Error("cannot start the tracker: " + std::generic_category().message(errno));
  }
  if (is_own_) target_ = open_process(observation_.root());
  before_ = cost_of_all();
  observation_.begin({.threads = before_.threads});
  const TrackerCost gpus = observation_.device_cost();
  gpu_cpu_before_ = gpus.cpu;
  publish({.threads = gpus.threads + 1});
  try {
    thread_ = start_thread([this] { run(); });
  } catch (const std::system_error& error) {
    observation_.abandon();
    publish({});
    throw Error("cannot start a thread to track with: " + error.code().message());
  }
  state_ = State::STARTED;
}

/// Adds what this tracker takes to the sum of all trackers of this process.
void Tracker::Impl::publish(const TrackerCost& own) noexcept {
  all_trackers().cpu_ns += (own.cpu - own_.cpu).count();
  all_trackers().threads += own.threads - own_.threads;  // modulo 2^64: it may fall
  own_ = own;
}

/// By the tracker's thread.
void Tracker::Impl::publish_cost() noexcept {
  const TrackerCost gpus = observation_.device_cost();
  publish({.cpu = clock_time(CLOCK_THREAD_CPUTIME_ID) + gpus.cpu - gpu_cpu_before_,
           .threads = own_.threads});
  observation_.set_own_cpu(own_.cpu);
}

TrackerCost Tracker::Impl::cost_since_start() const noexcept {
  TrackerCost cost = cost_of_all();
  cost.cpu -= before_.cpu;
  return cost;
}

void Tracker::Impl::run() noexcept {
  const TimeSource& clock = machine_clock();
  Schedule schedule(clock.now(), period_);
  int target = target_.get();
  while (!stopping_) {
    wait_for(stop_.get(), target, schedule.next() - clock.now());
    if (stopping_) break;
    publish_cost();
    bool goes_on = false;
    try {
      goes_on = observation_.sample(cost_since_start());
    } catch (const std::exception& error) {  // no memory: the next sample may succeed
      if (logs_) log(error.what());
      goes_on = true;
    }
    publish_cost();
    schedule.advance(clock.now());
    if (goes_on) continue;
    has_ended_ = true;
    wait_for(stop_.get(), -1, std::nullopt);
    break;
  }
  publish_cost();
}

void Tracker::Impl::stop() {
  if (state_ == State::NEW) throw NotStarted("cannot stop the tracker: it was not started");
  if (state_ == State::STOPPED) return;
  stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t always = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
  publish({.cpu = own_.cpu, .threads = own_.threads - 1});
  state_ = State::STOPPED;
  observation_.end(cost_since_start());
  publish({.cpu = own_.cpu, .threads = 0});
  usage_ = observation_.usage();
  if (const auto failure = observation_.failure()) throw WriteError(*failure);
}

Tracker::Tracker(const TrackerOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Tracker::~Tracker() {
  if (impl_->is_copy()) {
    // The thread is the parent's, and so is everything that it uses.
    (void)impl_.release();
    return;
  }
  if (impl_->state() != State::STARTED) return;
  try {
    impl_->stop();
  } catch (const std::exception&) {  // there is nowhere to report it
  }
}

void Tracker::start() {
  if (!impl_->is_copy()) impl_->start();
}

void Tracker::stop() {
  if (!impl_->is_copy()) impl_->stop();
}

Tracker::State Tracker::state() const noexcept { return impl_->state(); }

bool Tracker::has_target_ended() const noexcept { return impl_->has_ended(); }

const ResourceUsage& Tracker::resource_usage() const {
  if (impl_->state() != State::STOPPED) {
    throw NotStopped("cannot report the resource usage: the tracker was not stopped yet");
  }
  return impl_->usage();
}

std::string Tracker::to_json() const { return resource_usage().to_json(); }
std::string Tracker::to_text() const { return resource_usage().to_text(); }

std::ostream& operator<<(std::ostream& out, const Tracker& tracker) {
  if (tracker.state() == Tracker::State::STOPPED) return out << tracker.to_text();
  return out << "tracker: " << to_string(tracker.state());
}

std::string_view to_string(Tracker::State state) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"NEW", "STARTED", "STOPPED"};
  return entry_of(kNames, state);
}

TrackerScope::TrackerScope(Tracker& tracker) : tracker_(tracker) { tracker_.start(); }

TrackerScope::~TrackerScope() {
  if (tracker_.state() != Tracker::State::STARTED) return;
  try {
    tracker_.stop();
  } catch (const std::exception&) {  // a write that failed was reported then
  }
}

}  // namespace wattle
