#include "client/engine.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "base/forks.hpp"
#include "base/text/text.hpp"
#include "base/thread.hpp"
#include "wattle/error.hpp"

namespace wattle::client {

using Progress = FollowedServer::ServerProgress;

Engine::Engine(std::shared_ptr<UpdateHub> hub, const Options& options)
    : hub_(std::move(hub)),
      book_(options.book),
      forks_(forks()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timers_(hub_->servers().size()),
      // Slightly before the constructor's deadline, so that the reason is known by then.
      transport_(
          std::make_unique<CurlTransport>(hub_->servers(), options.timeout - options.timeout / 10)),
      progress_(hub_->servers().size(), Progress::asking) {
  if (!wake_) {
    throw Error("cannot stream power: eventfd: " + std::generic_category().message(errno));
  }
  transport_->add_wake(wake_.get());
  auto chance = [random = std::minstd_rand(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>()(random);
  };
  // It cannot be moved, which std::make_unique would do with an aggregate's named members.
  // NOLINTNEXTLINE(modernize-make-unique)
  context_.reset(new StreamContext{.transport = *transport_,
                                   .hub = *hub_,
                                   .timers = timers_,
                                   .clock = machine_clock(),
                                   .chance = std::move(chance),
                                   .reconnect_delay = options.reconnect_delay,
                                   .longest_reconnect_delay = options.longest_reconnect_delay,
                                   .timeout = options.timeout,
                                   .book = book_.get()});
  for (std::size_t i = 0; i < hub_->servers().size(); ++i) servers_.emplace_back(i, *context_);
}

Engine::~Engine() {
  if (worker_.joinable()) worker_.detach();
}

void Engine::start() {
  try {
    const std::scoped_lock lock(mutex_);
    worker_ = start_thread([self = shared_from_this()] { self->run(); });
  } catch (const std::system_error& error) {
    throw Error("cannot start the thread of a power stream: " + error.code().message());
  }
}

Engine::StartResult Engine::wait_for_start(TimePoint deadline, bool tolerates_connection_trouble) {
  std::unique_lock lock(mutex_);
  const auto is_decided = [&] {
    if (other_trouble_ || (connection_trouble_ && !tolerates_connection_trouble)) return true;
    return std::ranges::all_of(progress_, [](Progress progress) {
      return progress == Progress::settled || progress == Progress::failed;
    });
  };
  changed_.wait_until(lock, deadline, is_decided);
  if (other_trouble_) return {.trouble = other_trouble_};
  if (!tolerates_connection_trouble) {
    if (connection_trouble_) return {.trouble = connection_trouble_};
    const auto late = std::ranges::find(progress_, Progress::asking);
    if (late != progress_.end()) {
      const Server& server = hub_->servers()[static_cast<std::size_t>(late - progress_.begin())];
      return {.trouble = Trouble{.what = printable(server.endpoint) + " does not answer in time"}};
    }
  }
  return {.has_streams = has_streams_};
}

void Engine::stop() noexcept {
  if (forks_ != forks()) return;
  hub_->end();
  is_stopping_ = true;
  (void)::eventfd_write(wake_.get(), 1);
  if (thread_.load() == std::this_thread::get_id()) return;
  std::unique_lock lock(mutex_);
  const TimePoint patience = TimePoint::clock::now() + kPatience;
  changed_.wait(lock, [&] { return is_quiet_; });
  changed_.wait_until(lock, patience, [&] { return has_ended_; });
  if (!has_ended_ || !worker_.joinable()) return;
  // Only the thread-local data of libraries is left, which takes no time. The program must not end
  // before that is destroyed.
  std::thread ended = std::move(worker_);
  lock.unlock();
  ended.join();
}

// NOLINTNEXTLINE(bugprone-exception-escape): only for want of memory, which ends the program
void Engine::run() noexcept {
  thread_ = std::this_thread::get_id();
  follow();
  for (FollowedServer& server : servers_) server.end();
  hub_->close();  // before the slow part
  {
    const std::scoped_lock lock(mutex_);
    is_quiet_ = true;
    changed_.notify_all();
  }
  servers_.clear();
  context_.reset();
  transport_.reset();
  const std::scoped_lock lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

void Engine::follow() {
  context_->read_clock();
  for (FollowedServer& server : servers_) server.start();
  while (!is_stopping_) {
    if (!has_started_) report_progress();
    transport_->wait(timers_.next());
    context_->read_clock();
    if (book_) check_for_suspend();
    transport_->run([&] { hub_->commit(); });
    while (!is_stopping_ && timers_.next() <= context_->now) servers_[timers_.first()].tick();
    hub_->commit();
  }
}

void Engine::check_for_suspend() {
  if (context_->now - suspend_checked_ < std::chrono::seconds(1)) return;
  suspend_checked_ = context_->now;
  if (suspend_.was_suspended()) book_->note_suspend();
}

void Engine::report_progress() {
  const std::scoped_lock lock(mutex_);
  has_started_ = true;
  has_streams_ = false;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const FollowedServer& server = servers_[i];
    progress_[i] = server.progress();
    has_started_ &= progress_[i] == Progress::settled || progress_[i] == Progress::failed;
    has_streams_ |= server.has_streams();
    const std::optional<Trouble>& met = server.trouble();
    if (!met) continue;
    auto& trouble =
        met->kind == Trouble::TroubleKind::connection ? connection_trouble_ : other_trouble_;
    if (!trouble) trouble = met;
  }
  changed_.notify_all();
}

}  // namespace wattle::client
