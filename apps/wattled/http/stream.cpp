#include "http/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wire/message_json.hpp"

namespace wattle::daemon {
namespace {

/// `keep_alive` is called about once per second: a tick that comes a little early must not be
/// skipped.
constexpr std::chrono::milliseconds kSilence{500};

wire::CpuPower cpu_power_of(const PowerChange& update) {
  return {.cpu_mw = *update.power_mw, .dram_mw = update.dram_mw};
}

bool contains(const Ids& ids, wire::DeviceId id) { return std::ranges::binary_search(ids, id); }

}  // namespace

std::string chunk(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

Stream::~Stream() {
  for (auto& [wanted, group] : groups_) {
    for (Subscriber* const subscriber : group.subscribers) subscriber->stream_ = nullptr;
  }
}

void Stream::subscribe(Subscriber& subscriber, const Ids& ids, std::chrono::milliseconds hold) {
  unsubscribe(subscriber);
  const auto group = groups_.try_emplace({.ids = ids, .hold = hold}).first;
  // A new subscriber gets nothing that is older than the known values.
  send_held(group->second);
  subscriber.stream_ = this;
  subscriber.wanted_ = &group->first;
  subscriber.place_ = group->second.subscribers.size();
  group->second.subscribers.push_back(&subscriber);
  ++subscribers_;
  for (const wire::DeviceId id : ids) ++devices_[id].subscribers;
  if (std::string text = known(ids); !text.empty()) {
    group->second.has_begun = true;
    ++events_;
    subscriber.deliver(std::make_shared<const std::string>(std::move(text)));
  }
}

void Stream::unsubscribe(Subscriber& subscriber) noexcept {
  if (subscriber.stream_ != nullptr) subscriber.stream_->remove(subscriber);
}

void Stream::remove(Subscriber& subscriber) noexcept {
  const auto group = groups_.find(*subscriber.wanted_);
  std::vector<Subscriber*>& all = group->second.subscribers;
  all.back()->place_ = subscriber.place_;
  std::swap(all[subscriber.place_], all.back());
  all.pop_back();
  for (const wire::DeviceId id : group->first.ids) {
    const auto device = devices_.find(id);
    if (--device->second.subscribers == 0) devices_.erase(device);
  }
  if (all.empty()) groups_.erase(group);
  --subscribers_;
  subscriber.stream_ = nullptr;
}

std::string Stream::event_of(const PowerChange& update) const {
  const std::string json =
      type_ == DeviceType::gpu
          ? wire::encode_event(update.timestamp_ms, update.id, *update.power_mw)
          : wire::encode_event(update.timestamp_ms, update.id, cpu_power_of(update));
  return chunk(wire::event(json));
}

std::string Stream::reasons_of(const PowerChange& update) const {
  // A comment, since clients take every event for a value.
  std::string text;
  const auto add = [&](const std::string& reason, bool is_dram) {
    if (reason.empty()) return;
    text += chunk(wire::encode(
        wire::UnknownPower{.type = type_, .id = update.id, .is_dram = is_dram, .reason = reason}));
  };
  add(update.reason, false);
  add(update.dram_reason, true);
  return text;
}

std::string Stream::snapshot(const Ids& ids) const {
  wire::GpuPowersAt gpus;
  wire::CpuPowersAt cpus;
  for (const wire::DeviceId id : ids) {
    const PowerChange& last = devices_.at(id).last;
    if (!last.power_mw) continue;
    gpus.timestamp_ms = std::max(gpus.timestamp_ms, last.timestamp_ms);
    gpus.powers[id] = *last.power_mw;
    cpus.powers[id] = cpu_power_of(last);
  }
  cpus.timestamp_ms = gpus.timestamp_ms;
  if (cpus.powers.empty()) return {};
  return chunk(wire::event(type_ == DeviceType::gpu ? wire::encode(gpus) : wire::encode(cpus)));
}

std::string Stream::known(const Ids& ids) const {
  const bool alone = format_ == wire::StreamFormat::per_device;
  std::string text;
  for (const wire::DeviceId id : ids) {
    const PowerChange& last = devices_.at(id).last;
    if (last.power_mw && alone) text += event_of(last);
    text += reasons_of(last);
  }
  return alone ? text : text + snapshot(ids);
}

std::vector<Stream::EncodedChange> Stream::take(const std::vector<PowerChange>& updates) {
  std::vector<EncodedChange> encoded;
  for (const PowerChange& update : updates) {
    const auto device = devices_.find(update.id);
    if (device == devices_.end()) continue;  // no subscribers any more
    PowerChange& last = device->second.last;
    const bool has_reasons = update.reason != last.reason || update.dram_reason != last.dram_reason;
    const bool is_new =
        update.power_mw != last.power_mw || update.dram_mw != last.dram_mw || has_reasons;
    last = update;
    if (!is_new) continue;
    const bool alone = format_ == wire::StreamFormat::per_device;
    std::string text = update.power_mw && alone ? event_of(update) : std::string();
    if (has_reasons) text += reasons_of(update);
    encoded.push_back({update.id, std::move(text), update.power_mw.has_value()});
  }
  return encoded;
}

std::string Stream::text_for(const Ids& ids, const std::vector<EncodedChange>& changes) const {
  std::string text;
  bool has_event = false;
  for (const EncodedChange& item : changes) {
    if (!contains(ids, item.id)) continue;
    text += item.text;
    has_event = has_event || item.has_event;
  }
  if (has_event && format_ == wire::StreamFormat::snapshot) text += snapshot(ids);
  return text;
}

void Stream::publish(const std::vector<PowerChange>& updates, TimePoint now) {
  const std::vector<EncodedChange> changes = take(updates);
  for (auto& [wanted, group] : groups_) {
    group.held += text_for(wanted.ids, changes);
    if (group.held.empty() || now - group.sent < wanted.hold) continue;
    send_held(group);
    group.sent = now;
  }
}

void Stream::keep_alive(TimePoint now) {
  Frame alive;
  for (auto& [wanted, group] : groups_) {
    const bool has_begun = group.has_begun || !group.held.empty();
    if (!has_begun || now - group.sent < kSilence) continue;
    group.sent = now;
    if (!group.held.empty()) {
      send_held(group);
      continue;
    }
    if (!alive) alive = std::make_shared<const std::string>(chunk(wire::comment("alive")));
    send(group, alive);
  }
}

void Stream::send(SubscriberGroup& group, const Frame& frame) {
  for (Subscriber* const subscriber : group.subscribers) subscriber->deliver(frame);
}

void Stream::send_held(SubscriberGroup& group) {
  if (group.held.empty()) return;
  group.has_begun = true;
  ++events_;
  send(group, std::make_shared<const std::string>(std::exchange(group.held, {})));
}

Ids Stream::wanted() const {
  Ids ids;
  for (const auto& [id, device] : devices_) ids.push_back(id);
  return ids;
}

}  // namespace wattle::daemon
