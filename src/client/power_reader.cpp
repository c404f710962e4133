// The public class of a reader.

#include "client/power_reader.hpp"

#include <utility>

#include "wattle/error.hpp"
#include "wattle/power_stream.hpp"

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

PowerReader::PowerReader(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
PowerReader::PowerReader(PowerReader&&) noexcept = default;
PowerReader& PowerReader::operator=(PowerReader&& other) noexcept {
  impl_.swap(other.impl_);
  return *this;
}
PowerReader::~PowerReader() {
  if (impl_) impl_->close();
}

PowerReader::Impl& PowerReader::impl() const {
  if (!impl_) throw InvalidArgument("cannot use a reader that was moved: use the one it became");
  return *impl_;
}

const PowerSnapshot* PowerReader::wait() { return impl().wait(std::nullopt); }
const PowerSnapshot* PowerReader::wait_until(TimePoint deadline) { return impl().wait(deadline); }
PowerReader::Next PowerReader::next() {
  (void)impl();
  return Next(impl_);
}

const PowerSnapshot& PowerReader::readings() const noexcept {
  static const PowerSnapshot none;
  return impl_ ? impl_->readings() : none;
}
std::span<const PowerUpdate> PowerReader::updates() const noexcept {
  if (!impl_) return {};
  return impl_->updates();
}
std::uint64_t PowerReader::dropped() const noexcept { return impl_ ? impl_->dropped() : 0; }
bool PowerReader::has_ended() const noexcept { return !impl_ || impl_->has_ended(); }

PowerReader::Iterator PowerReader::begin() {
  (void)impl();
  return Iterator(impl_);
}

PowerReader::Next::Next(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
PowerReader::Next::~Next() {
  if (waits_) impl_->forget_waiting();
}
bool PowerReader::Next::await_ready() { return impl_->is_ready(); }
bool PowerReader::Next::await_suspend(std::coroutine_handle<> who) {
  return impl_->suspend(who, waits_);
}
const PowerSnapshot* PowerReader::Next::await_resume() {
  waits_ = false;
  return impl_->take();
}

PowerReader::Iterator::Iterator(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) { ++*this; }
PowerReader::Iterator& PowerReader::Iterator::operator++() {
  step_ = impl_->wait(std::nullopt);
  return *this;
}

}  // namespace wattle
