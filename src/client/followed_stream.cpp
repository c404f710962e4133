#include "client/followed_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "client/connection_words.hpp"
#include "client/transport/transport.hpp"
#include "wire/message_json.hpp"

namespace wattle::client {
namespace {

constexpr std::size_t kLongestRefusal = 4096;

/// Division by it keeps the decimal digits that were sent; 1e-3 is not exact.
constexpr double kMilliwattsPerW = 1e3;

/// Events are sent at once after a reading: a larger difference means that a clock was set.
constexpr double kPlausibleDelayS = 2.0;

}  // namespace

void RefusalLog::note(TimePoint now, const std::string& whose, std::string_view what,
                      std::string_view sample) {
  ++count_;
  if (reported_ > 0 && now < next_) return;
  std::string message = whose + ": an event " + std::string(what) + " and is passed over";
  if (!sample.empty()) message += ": " + printable(sample, 100);
  if (const std::uint64_t unreported = count_ - reported_ - 1; unreported > 0) {
    message += " (and " + std::to_string(unreported) + " before)";
  }
  reported_ = count_;
  next_ = now + kPause;
  log(message);
}

FollowedStream::FollowedStream(std::size_t server, DeviceType type, StreamContext& around)
    : server_(server),
      type_(type),
      context_(around),
      backoff_(around.reconnect_delay, around.longest_reconnect_delay) {}

FollowedStream::~FollowedStream() {
  if (request_ != 0) context_.transport.cancel(request_);
}

std::string FollowedStream::name() const {
  return std::string(type_ == DeviceType::gpu ? "GPU" : "CPU") + " stream of " +
         printable(context_.hub.servers()[server_].endpoint);
}

void FollowedStream::set_state(ConnectionStatus status, const std::string& reason) {
  if (state_.status == status && state_.reason == reason) return;
  if (state_.status != status) state_.since = context_.now;
  state_.status = status;
  state_.reason = reason;
  context_.hub.set_state(server_, type_, state_);
}

void FollowedStream::serve(const std::vector<DeviceId>& devices) {
  for (DeviceFeed& device : devices_) {
    device.is_served = std::ranges::find(devices, device.id) != devices.end();
    if (!device.is_served && device.has_value) put_gone(device);
    if (!device.is_served) clear_reasons(device);
  }
  context_.hub.end_event();
  for (const DeviceId id : devices) {
    if (find(id) != nullptr) continue;
    const std::uint32_t slot = context_.hub.new_slot(
        {.server = static_cast<std::uint32_t>(server_), .device = id, .type = type_});
    const auto place = std::ranges::upper_bound(devices_, id, {}, &DeviceFeed::id);
    devices_.insert(place, {.id = id, .slot = slot, .is_served = true});
  }
}

void FollowedStream::expect() {
  set_state(ConnectionStatus::connecting, "the daemon has not answered yet");
}

void FollowedStream::open(std::string_view target) {
  phase_ = StreamPhase::opening;
  opened_ = context_.now;
  status_ = 0;
  refusal_.clear();
  reader_ = wire::SseReader([this](std::string_view comment) { take_comment(comment); });
  exceeded_limits_ = false;
  dropped_ = 0;
  for (DeviceFeed& device : devices_) device.timestamp_ms = 0.0;
  // The reason of a loss or denial stays until the stream is back.
  if (state_.status != ConnectionStatus::denied) {
    set_state(ConnectionStatus::connecting, losses_ == 0 ? std::string() : state_.reason);
  }
  request_ = context_.transport.start(server_, target, {.is_last = true}, *this);
}

void FollowedStream::turn_off(const std::string& reason) {
  phase_ = StreamPhase::idle;
  set_state(ConnectionStatus::off, reason);
}

void FollowedStream::deny(const std::string& reason) {
  const bool is_news = state_.status != ConnectionStatus::denied || state_.reason != reason;
  phase_ = StreamPhase::denied;
  set_state(ConnectionStatus::denied, reason);
  wait(backoff_.longest(context_.chance()));
  if (is_news) log(denied(name(), reason));
}

void FollowedStream::wait(std::chrono::nanoseconds delay) {
  retry_at_ = context_.now + delay;
  context_.timers.set_at_latest(server_, retry_at_);
}

void FollowedStream::lose(const std::string& reason, bool is_answered) {
  if (request_ != 0) context_.transport.cancel(std::exchange(request_, 0));
  if (phase_ == StreamPhase::open && context_.now - opened_ >= kSettled) backoff_.reset();
  phase_ = StreamPhase::waiting;
  ++losses_;
  for (const DeviceFeed& device : devices_) {
    each_booked(device, [&](const StreamHistory::QuantityKey& key) {
      context_.book->lose_power(key, context_.now);
    });
  }
  set_state(ConnectionStatus::connecting, reason);
  const double chance = context_.chance();
  wait(is_answered ? backoff_.next(chance) : backoff_.first(chance));
}

void FollowedStream::end() {
  const bool was_on = state_.status != ConnectionStatus::off;
  if (was_on && state_.status != ConnectionStatus::denied) {
    set_state(ConnectionStatus::gone, "stopped");
  }
}

bool FollowedStream::take_sign() {
  if (phase_ != StreamPhase::open) return false;
  const bool was_silent = context_.now - last_sign_ >= kSilent;
  last_sign_ = context_.now;
  set_state(ConnectionStatus::live, {});
  return was_silent;
}

void FollowedStream::note_sign() {
  if (take_sign()) confirm_powers();
}

void FollowedStream::confirm_powers() {
  for (const DeviceFeed& device : devices_) {
    if (!device.has_value) continue;
    each_booked(device, [&](const StreamHistory::QuantityKey& key) {
      context_.book->confirm_power(key, last_sign_);
    });
  }
}

void FollowedStream::check() {
  if (phase_ == StreamPhase::opening && context_.now - opened_ >= context_.timeout) {
    // Or sends a refusal without end.
    if (request_ != 0) context_.transport.cancel(request_);
    ended({.failure = "the daemon does not answer"});
  }
  if (phase_ != StreamPhase::open) return;
  const auto silence = context_.now - last_sign_;
  if (silence >= kLost) {
    lose("nothing has come for 15 s, and the daemon does not answer");
  } else if (silence >= kStale) {
    set_state(ConnectionStatus::stale, "nothing has come for 3 s, and the daemon does not answer");
  }
  confirm_powers();
}

void FollowedStream::began(int status) {
  status_ = status;
  if (status != 200) return;
  phase_ = StreamPhase::open;
  opened_ = context_.now;
  needs_seed_ = true;
  // A daemon sends its reasons to every new subscriber.
  for (DeviceFeed& device : devices_) clear_reasons(device);
  note_sign();
  // The server requests it again when it may.
  context_.timers.set_at_latest(server_, context_.now);
}

bool FollowedStream::received(std::string_view bytes) {
  if (status_ != 200) {
    refusal_ += bytes.substr(0, kLongestRefusal - std::min(kLongestRefusal, refusal_.size()));
    return refusal_.size() < kLongestRefusal;
  }
  exceeded_limits_ = !bytes_limit_.admits(static_cast<double>(bytes.size()), context_.now);
  if (exceeded_limits_) return false;
  const bool was_silent = take_sign();
  while (true) {
    const auto event = reader_.next(bytes);
    if (exceeded_limits_) return false;  // by comments
    if (!event) break;
    exceeded_limits_ = !events_limit_.admits(1.0, context_.now);
    if (exceeded_limits_) return false;
    take_event(*event);
  }
  if (std::exchange(dropped_, reader_.dropped()) != reader_.dropped()) {
    refuse("is longer than 1 MiB", {});
  }
  // After the events, so that a power that changed is not confirmed.
  if (was_silent) confirm_powers();
  return true;
}

void FollowedStream::ended(const RequestEnding& ending) {
  request_ = 0;
  // Its server checks whether everything is settled.
  context_.timers.set_at_latest(server_, context_.now);
  std::string reason = ending.failure;
  if (status_ != 0 && status_ != 200) reason = refusal_text(status_, refusal_);
  if (std::exchange(exceeded_limits_, false)) reason = "it sends far more than a daemon does";
  if (status_ == 401 || status_ == 403 || status_ == 404) return deny(reason);
  lose(reason.empty() ? "the daemon ended the stream" : reason);
}

void FollowedStream::take_event(std::string_view json) {
  if (const auto event = context_.parser.parse(type_, json)) {
    apply(*event);
  } else {
    refuse(context_.parser.refusal(), json);
  }
}

void FollowedStream::take_comment(std::string_view comment) {
  auto unknown = wire::decode_unknown(comment);
  if (!unknown || unknown->type != type_) return;
  exceeded_limits_ = exceeded_limits_ || !events_limit_.admits(1.0, context_.now);
  DeviceFeed* const device = find(unknown->id);
  if (exceeded_limits_ || device == nullptr || !device->is_served) return;
  set_reason(*device, unknown->is_dram, std::move(unknown->reason));
  if (unknown->is_dram || !device->has_value) return;
  put_gone(*device);
  context_.hub.end_event();
}

void FollowedStream::set_reason(DeviceFeed& device, bool is_dram, std::string reason) {
  bool& has_reason = is_dram ? device.has_dram_reason : device.has_reason;
  if (!has_reason && reason.empty()) return;
  has_reason = !reason.empty();
  context_.hub.set_reason(
      server_, {.type = type_, .id = device.id, .is_dram = is_dram, .reason = std::move(reason)});
}

void FollowedStream::clear_reasons(DeviceFeed& device) {
  set_reason(device, false, {});
  set_reason(device, true, {});
}

bool FollowedStream::is_unknown(DeviceId id, bool is_dram) const noexcept {
  const auto found = std::ranges::lower_bound(devices_, id, {}, &DeviceFeed::id);
  if (found == devices_.end() || found->id != id) return false;
  return is_dram ? found->has_dram_reason : found->has_reason;
}

std::optional<ReadAt> FollowedStream::read_at(wire::UnixMs timestamp_ms) const noexcept {
  if (!std::isfinite(clock_.uncertainty_s)) return std::nullopt;
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const double unix_s = 1e-3 * static_cast<double>(timestamp_ms) + clock_.offset_s;
  const Seconds ago(std::max(context_.unix_now_s - unix_s, 0.0));
  return ReadAt{.at = context_.now - duration_cast<nanoseconds>(ago),
                .half_width = duration_cast<nanoseconds>(Seconds(clock_.uncertainty_s))};
}

void FollowedStream::apply(const wire::PowerEvent& event) {
  ++events_;
  for (const wire::DevicePower& power : event.devices) {
    DeviceFeed* const device = find(power.id);
    if (device == nullptr || !device->is_served) {
      refuse("reports a device that the daemon does not serve", std::to_string(power.id));
    } else {
      put(*device, power, event.timestamp_ms);
    }
  }
  if (event.is_snapshot) {
    for (DeviceFeed& device : devices_) {
      if (device.has_value && device.event != events_) put_gone(device);
    }
  }
  context_.hub.end_event();
}

void FollowedStream::seed(const wire::PowerEvent& powers) {
  for (const wire::DevicePower& power : powers.devices) {
    DeviceFeed* const device = find(power.id);
    if (device == nullptr || !device->is_served) continue;
    if (powers.timestamp_ms > device->timestamp_ms) put(*device, power, powers.timestamp_ms);
  }
  context_.hub.end_event();
}

void FollowedStream::put(DeviceFeed& device, const wire::DevicePower& power, double timestamp_ms) {
  const double timestamp_s = 1e-3 * timestamp_ms + clock_.offset_s;
  if (std::isfinite(clock_.uncertainty_s) &&
      std::abs(timestamp_s - context_.unix_now_s) > kPlausibleDelayS + clock_.uncertainty_s) {
    doubts_clock_ = true;
    context_.timers.set_at_latest(server_, context_.now);
  }
  device.timestamp_ms = timestamp_ms;
  device.event = events_;
  device.has_value = true;
  if (power.power_mw) set_reason(device, false, {});
  if (power.dram_mw) set_reason(device, true, {});
  if (context_.book != nullptr) book_power(device, power, timestamp_s);
  context_.hub.add({.timestamp_s = timestamp_s,
                    .power_w = power.power_mw.value_or(kNoPower) / kMilliwattsPerW,
                    .dram_w = power.dram_mw.value_or(kNoPower) / kMilliwattsPerW,
                    .slot = device.slot});
}

void FollowedStream::put_gone(DeviceFeed& device) {
  device.has_value = false;
  each_booked(device, [&](const StreamHistory::QuantityKey& key) {
    context_.book->lose_power(key, context_.now);
  });
  context_.hub.add({.timestamp_s = context_.unix_now_s, .slot = device.slot, .is_gone = true});
}

void FollowedStream::book_power(const DeviceFeed& device, const wire::DevicePower& power,
                                double timestamp_s) {
  // A reading is never in the future; without a known daemon clock, it is now.
  TimePoint at = context_.now;
  if (std::isfinite(clock_.uncertainty_s)) {
    const Seconds ago(std::clamp(context_.unix_now_s - timestamp_s, 0.0, kPlausibleDelayS));
    at -= std::chrono::duration_cast<std::chrono::nanoseconds>(ago);
  }
  const MeasuredQuantity quantity =
      type_ == DeviceType::gpu ? MeasuredQuantity::gpu : MeasuredQuantity::cpu;
  const auto book = [&](MeasuredQuantity of, const std::optional<double>& power_mw) {
    const StreamHistory::QuantityKey key{.server = server_, .quantity = of, .device = device.id};
    if (power_mw) context_.book->note_power(key, at, *power_mw / kMilliwattsPerW);
    if (!power_mw) context_.book->lose_power(key, at);
  };
  book(quantity, power.power_mw);
  if (type_ == DeviceType::cpu) book(MeasuredQuantity::dram, power.dram_mw);
}

template <class Visit>
void FollowedStream::each_booked(const DeviceFeed& device, Visit visit) const {
  if (context_.book == nullptr) return;
  const bool is_gpu = type_ == DeviceType::gpu;
  visit(
      StreamHistory::QuantityKey{.server = server_,
                                 .quantity = is_gpu ? MeasuredQuantity::gpu : MeasuredQuantity::cpu,
                                 .device = device.id});
  if (is_gpu) return;
  visit(StreamHistory::QuantityKey{
      .server = server_, .quantity = MeasuredQuantity::dram, .device = device.id});
}

FollowedStream::DeviceFeed* FollowedStream::find(DeviceId id) noexcept {
  const auto found = std::ranges::lower_bound(devices_, id, {}, &DeviceFeed::id);
  return found != devices_.end() && found->id == id ? &*found : nullptr;
}

void FollowedStream::refuse(std::string_view what, std::string_view sample) {
  refusals_.note(context_.now, name(), what, sample);
}

}  // namespace wattle::client
