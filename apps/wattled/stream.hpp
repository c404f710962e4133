// Who is told about the power of devices as it changes, and what they are told: every event is
// encoded once and shared by all who asked for the same devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpus.hpp"
#include "wattle/clock.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

/// Bytes of the body of an answer: whole HTTP chunks, one for each event.
using Frame = std::shared_ptr<const std::string>;

/// `text` as one HTTP chunk.
[[nodiscard]] std::string chunk(std::string_view text);

class Stream;

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
  const Ids* ids_ = nullptr;  ///< the feed's key
  std::size_t place_ = 0;
};

/// What is new about a device.
struct PowerChange {
  wire::DeviceId id = 0;
  wire::UnixMs timestamp_ms = 0;
  std::optional<std::uint64_t> power_mw{};  ///< absent: not known now, for `reason`
  std::optional<std::uint64_t> dram_mw{};   ///< of a CPU's memory
  std::string reason{};
  std::string dram_reason{};  ///< why the power of a CPU's memory is not known; empty: it is
};

using wire::DeviceType;

/// One stream's subscribers, by the devices that they asked for. Threads: the loop's.
class Stream {
 public:
  Stream(DeviceType type, wire::StreamFormat format) : type_(type), format_(format) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  /// Tells the subscriber at once what is known of its devices. `ids`: ascending, each once.
  void subscribe(Subscriber& subscriber, const Ids& ids);
  /// Nothing is delivered any more. Does nothing for who is no subscriber.
  static void unsubscribe(Subscriber& subscriber) noexcept;

  /// Tells whoever asked for a device whose value changed.
  void publish(const std::vector<PowerChange>& updates, TimePoint now);
  /// Sends a sign of life to whoever got an event, but nothing in the last second. To be called
  /// about once a second.
  void keep_alive(TimePoint now);

  /// Devices that somebody asked for, ascending.
  [[nodiscard]] Ids wanted() const;
  [[nodiscard]] std::size_t subscribers() const noexcept { return subscribers_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  struct Device {
    std::size_t subscribers = 0;
    PowerChange last;  ///< without a power before the first
  };
  struct Feed {
    std::vector<Subscriber*> subscribers;
    TimePoint sent{};
    bool has_begun = false;
  };
  using Feeds = std::map<Ids, Feed>;
  /// What the subscribers of a device get.
  struct News {
    wire::DeviceId id;
    std::string text;  ///< of an event that is part of a snapshot, the comments alone
    bool has_event;    ///< else there are comments alone
  };

  void remove(Subscriber& subscriber) noexcept;
  [[nodiscard]] std::string event_of(const PowerChange& update) const;
  /// What is not known of a device, as comments in chunks; empty where all is.
  [[nodiscard]] std::string reasons_of(const PowerChange& update) const;
  /// What is known of these devices, as chunks; empty where nothing is.
  [[nodiscard]] std::string known(const Ids& ids) const;
  [[nodiscard]] std::string snapshot(const Ids& ids) const;
  /// Keeps what is new, and puts it into words.
  [[nodiscard]] std::vector<News> take(const std::vector<PowerChange>& updates);
  static void send(Feed& feed, const Frame& frame, TimePoint now);

  DeviceType type_;
  wire::StreamFormat format_;
  std::map<wire::DeviceId, Device> devices_;  ///< those that somebody asked for
  Feeds feeds_;
  std::size_t subscribers_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace wattle::daemon
