// The public class of a reader.
#include <utility>

#include "base/forks.hpp"
#include "client/reader_impl.hpp"
#include "wattle/error.hpp"
#include "wattle/power_stream.hpp"

namespace wattle {

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
