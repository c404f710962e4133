// Sends powers to subscribers as they change. Each event is encoded once and shared by all
// subscribers of the same devices.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/gpus.hpp"
#include "wattle/clock.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

/// Bytes of the body of an answer: whole HTTP chunks, one for each event.
using Frame = std::shared_ptr<const std::string>;

/// `text` as one HTTP chunk.
[[nodiscard]] std::string chunk(std::string_view text);

class Stream;

/// The properties shared by subscribers that get the same events.
struct Subscription {
  Ids ids{};
  std::chrono::milliseconds hold{};

  auto operator<=>(const Subscription&) const = default;
};

/// Threads: the loop's.
class Subscriber {
 public:
  Subscriber() = default;
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  virtual ~Subscriber() = default;
  /// Must not throw, nor subscribe or unsubscribe anybody.
  virtual void deliver(const Frame& frame) = 0;

 private:
  friend class Stream;
  Stream* stream_ = nullptr;
  const Subscription* wanted_ = nullptr;  ///< the group's key
  std::size_t place_ = 0;
};

/// A new value of a device.
struct PowerChange {
  wire::DeviceId id = 0;
  wire::UnixMs timestamp_ms = 0;
  std::optional<std::uint64_t> power_mw{};  ///< absent: unknown now, see `reason`
  std::optional<std::uint64_t> dram_mw{};   ///< of a CPU's memory
  std::string reason{};
  std::string dram_reason{};  ///< why the power of a CPU's memory is unknown; empty: it is known
};

using wire::DeviceType;

/// The subscribers of one stream, grouped by what they want. Threads: the loop's.
class Stream {
 public:
  Stream(DeviceType type, wire::StreamFormat format) : type_(type), format_(format) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  /// Sends the known values of the devices to the subscriber at once. `ids`: ascending, each once.
  /// Events of the time `hold`, at most a second, are sent together.
  void subscribe(Subscriber& subscriber, const Ids& ids, std::chrono::milliseconds hold = {});
  /// Ends deliveries to `subscriber`. Does nothing if it is not subscribed.
  static void unsubscribe(Subscriber& subscriber) noexcept;

  /// Sends the changed values to the subscribers of these devices, and what was held for long
  /// enough.
  void publish(const std::vector<PowerChange>& updates, TimePoint now);
  /// Sends what is held, or a sign of life, to subscribers that have got an event, but none in the
  /// last second. Call it about once per second.
  void keep_alive(TimePoint now);

  /// The devices that have subscribers, ascending.
  [[nodiscard]] Ids wanted() const;
  [[nodiscard]] std::size_t subscribers() const noexcept { return subscribers_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  struct SubscribedDevice {
    std::size_t subscribers = 0;
    PowerChange last;  ///< no power before the first value
  };
  struct SubscriberGroup {
    std::vector<Subscriber*> subscribers;
    std::string held{};  ///< chunks that are not sent yet
    TimePoint sent{};
    bool has_begun = false;
  };
  using SubscriberGroups = std::map<Subscription, SubscriberGroup>;
  /// The encoded change of a device.
  struct EncodedChange {
    wire::DeviceId id;
    std::string text;  ///< for snapshots only the comments; the event has all devices
    bool has_event;    ///< false: only comments
  };

  void remove(Subscriber& subscriber) noexcept;
  [[nodiscard]] std::string event_of(const PowerChange& update) const;
  /// The reasons for unknown powers of a device, as comments in chunks; empty: none.
  [[nodiscard]] std::string reasons_of(const PowerChange& update) const;
  /// The known values of these devices, as chunks; empty: none.
  [[nodiscard]] std::string known(const Ids& ids) const;
  [[nodiscard]] std::string snapshot(const Ids& ids) const;
  /// Keeps the new values, and encodes them.
  [[nodiscard]] std::vector<EncodedChange> take(const std::vector<PowerChange>& updates);
  /// The chunks of the changes for subscribers of these devices; empty: none.
  [[nodiscard]] std::string text_for(const Ids& ids,
                                     const std::vector<EncodedChange>& changes) const;
  static void send(SubscriberGroup& group, const Frame& frame);
  void send_held(SubscriberGroup& group);

  DeviceType type_;
  wire::StreamFormat format_;
  std::map<wire::DeviceId, SubscribedDevice> devices_;  ///< with subscribers
  SubscriberGroups groups_;
  std::size_t subscribers_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace wattle::daemon
