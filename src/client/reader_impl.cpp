#include "client/reader_impl.hpp"

#include <algorithm>
#include <utility>

#include "wattle/error.hpp"

namespace wattle {

using client::UpdateHub;

PowerReader::Impl::Impl(std::shared_ptr<UpdateHub> hub, client::View view,
                        const ReaderOptions& options)
    : hub_(std::move(hub)),
      wants_states_(options.states),
      view_(std::move(view)),
      queue_(options.latest_only ? 0 : hub_->delivery_.queue_limit) {}

std::shared_ptr<PowerReader::Impl> PowerReader::Impl::make(std::shared_ptr<UpdateHub> hub,
                                                           const ReaderOptions& options) {
  UpdateHub& from = *hub;
  if (from.has_ended()) {
    // In a forked child the mutex may stay locked for ever.
    client::View nothing(from.servers_);
    return std::shared_ptr<Impl>(new Impl(std::move(hub), std::move(nothing), options));
  }
  const std::scoped_lock lock(from.mutex_);
  std::shared_ptr<Impl> made(new Impl(std::move(hub), from.view(), options));
  made->queue_.expect_slots(from.slots_.size());
  made->meta_version_ = from.meta_version_;
  from.readers_.push_back(made.get());
  return made;
}

PowerReader::Impl::~Impl() {
  if (hub_->is_forked()) return;
  const std::scoped_lock lock(hub_->mutex_);
  std::erase(hub_->readers_, this);
}

const PowerSnapshot* PowerReader::Impl::wait(std::optional<TimePoint> deadline) {
  if (hub_->has_ended()) return nullptr;
  std::unique_lock lock(hub_->mutex_);
  const auto is_over = [&] { return has_step() || hub_->has_ended(); };
  is_blocked_ = true;
  if (deadline) {
    changed_.wait_until(lock, *deadline, is_over);
  } else {
    changed_.wait(lock, is_over);
  }
  is_blocked_ = false;
  return take_step();
}

bool PowerReader::Impl::is_ready() const {
  if (hub_->has_ended()) return true;
  const std::scoped_lock lock(hub_->mutex_);
  return has_step();
}

bool PowerReader::Impl::suspend(std::coroutine_handle<> who, bool& waits) {
  // After the mutex is unlocked, the coroutine may run and destroy the reader.
  const std::shared_ptr<Impl> self = shared_from_this();
  if (hub_->has_ended()) return false;
  const std::scoped_lock lock(hub_->mutex_);
  if (waiting_ || due_) {
    throw InvalidArgument(
        "two coroutines cannot wait for one reader of a power stream: give each "
        "its own");
  }
  if (has_step() || hub_->has_ended()) return false;
  waits = true;
  waiting_ = who;
  return true;
}

const PowerSnapshot* PowerReader::Impl::take() {
  if (hub_->has_ended()) return nullptr;
  const std::scoped_lock lock(hub_->mutex_);
  return take_step();
}

void PowerReader::Impl::forget_waiting() noexcept {
  if (hub_->is_forked()) return;
  const std::scoped_lock lock(hub_->mutex_);
  waiting_ = {};
  due_ = {};
}

void PowerReader::Impl::resume() noexcept {
  std::coroutine_handle<> who;
  {
    const std::scoped_lock lock(hub_->mutex_);
    who = std::exchange(due_, {});
  }
  if (who) who.resume();
}

std::uint64_t PowerReader::Impl::dropped() const {
  if (hub_->is_forked()) return 0;
  const std::scoped_lock lock(hub_->mutex_);
  return queue_.dropped();
}

const PowerSnapshot* PowerReader::Impl::take_step() {
  if (hub_->has_ended()) return nullptr;
  copy_states();
  if (!has_step()) return nullptr;
  has_new_state_ = false;
  updates_.clear();
  queue_.take_step([&](const client::Update& update) {
    view_.apply(update, hub_->slots_[update.slot]);
    updates_.push_back(hub_->public_update(update));
  });
  if (!updates_.empty()) updates_.back().ends_event = true;
  return &view_.readings();
}

void PowerReader::Impl::copy_states() {
  const std::uint64_t known = std::exchange(meta_version_, hub_->meta_version_);
  if (known == meta_version_) return;
  for (std::size_t i = 0; i < hub_->metas_.size(); ++i) {
    if (hub_->metas_[i].version > known) hub_->metas_[i].copy_to(view_.server(i));
  }
}

}  // namespace wattle
