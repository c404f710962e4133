// One stream of one server: the powers of its GPUs, or of its CPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/backoff.hpp"
#include "client/clock_offset.hpp"
#include "client/flow_limit.hpp"
#include "client/refusals.hpp"
#include "client/surroundings.hpp"
#include "client/transport.hpp"
#include "client/update.hpp"
#include "wire/event.hpp"
#include "wire/sse_reader.hpp"

namespace wattle::client {

/// From the request for a stream to its end, and the wait before the next one. What it hears goes
/// to the hub; who asks for it, and when, is its server (`FollowedServer`).
///
/// Threads: one at a time (the stream's).
class FollowedStream final : public ResponseHandler {
 public:
  enum class Phase : std::uint8_t {
    idle,     ///< not asked for: off, or to be asked for
    opening,  ///< asked for
    open,     ///< it answers
    waiting,  ///< until `retry_at`
    denied,   ///< the same, for longer
  };
  /// Without a sign of life for so long a stream is stale ...
  static constexpr std::chrono::seconds kStale = EnergyBook::kSilence;
  /// ... and then lost.
  static constexpr std::chrono::seconds kLost{15};
  /// A sign after so long confirms the powers at once. Those of a stream that sends more often are
  /// confirmed by `check`: an event of one device costs nothing for the others.
  static constexpr std::chrono::milliseconds kSilent{500};
  /// A stream that held for so long was a success: the next wait is the shortest again.
  static constexpr std::chrono::seconds kSettled{10};

  /// Far more than a daemon sends: 16 GPUs read 100 times a second are 1600 events. A server that
  /// exceeds it is lost, as after any failure. The bursts are what can have waited in sockets while
  /// this process stood still.
  static constexpr double kMostEventsPerSecond = 1e4;
  static constexpr double kEventBurst = 1e5;
  static constexpr double kMostBytesPerSecond = 4.0 * (1U << 20U);
  static constexpr double kByteBurst = 32.0 * (1U << 20U);

  FollowedStream(std::size_t server, DeviceType type, Surroundings& around);
  FollowedStream(const FollowedStream&) = delete;
  FollowedStream& operator=(const FollowedStream&) = delete;
  ~FollowedStream() override;

  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] DeviceType type() const noexcept { return type_; }
  [[nodiscard]] TimePoint retry_at() const noexcept { return retry_at_; }
  [[nodiscard]] bool waits() const noexcept {
    return phase_ == Phase::waiting || phase_ == Phase::denied;
  }
  [[nodiscard]] bool needs_seed() const noexcept { return phase_ == Phase::open && needs_seed_; }
  /// When something last came, or the daemon was known to live.
  [[nodiscard]] TimePoint last_sign() const noexcept { return last_sign_; }

  /// From now on these are served; others are told to be gone.
  void serve(const std::vector<DeviceId>& devices);
  /// The daemon is being asked for it, for the first time.
  void expect();
  void open(std::string_view target);
  void turn_off(const std::string& reason);
  void deny(const std::string& reason);
  /// Ends it, and waits before the next try: longer each time, but not where nobody answers, whom
  /// asking costs nothing.
  void lose(const std::string& reason, bool is_answered = true);
  /// Says that it is stopped for good: it is about to be destroyed.
  void end();

  /// The powers that single questions found: they count where nothing newer has come.
  void seed(const wire::PowerEvent& powers);
  void note_seeded() noexcept { needs_seed_ = false; }
  /// The daemon lives.
  void note_sign();
  /// Looks whether it does.
  void check();
  void set_clock(const ClockOffset& clock) noexcept { clock_ = clock; }
  /// The daemon says that it does not know the power of this device, or of its memory.
  [[nodiscard]] bool is_unknown(DeviceId id, bool is_dram) const noexcept;
  /// How often it was lost.
  [[nodiscard]] std::uint64_t losses() const noexcept { return losses_; }
  /// True once where an event's time cannot be: the daemon's clock, or this machine's, was set.
  [[nodiscard]] bool take_doubt() noexcept { return std::exchange(doubts_clock_, false); }

  void began(int status) override;
  [[nodiscard]] bool received(std::string_view bytes) override;
  void ended(const Ending& ending) override;

 private:
  struct Device {
    DeviceId id = 0;
    std::uint32_t slot = 0;
    double timestamp_ms = 0.0;  ///< of the newest event in this connection; 0: none
    std::uint64_t event = 0;    ///< the number of that event
    bool is_served = false;
    bool has_value = false;
    bool has_reason = false;       ///< why its power is not known
    bool has_dram_reason = false;  ///< the same of its memory
  };

  /// True where nothing came for a while before.
  [[nodiscard]] bool take_sign();
  /// They hold until the last sign of life at least.
  void confirm_powers();
  void take_event(std::string_view json);
  void take_comment(std::string_view comment);
  /// Empty: there is none.
  void set_reason(Device& device, bool is_dram, std::string reason);
  void clear_reasons(Device& device);
  void apply(const wire::PowerEvent& event);
  void put(Device& device, const wire::DevicePower& power, double timestamp_ms);
  void put_gone(Device& device);
  void book_power(const Device& device, const wire::DevicePower& power, double timestamp_s);
  /// Calls `visit(key)` for what is booked of a device.
  template <class Visit>
  void each_booked(const Device& device, Visit visit) const;
  [[nodiscard]] Device* find(DeviceId id) noexcept;
  void refuse(std::string_view what, std::string_view sample);
  void set_state(ConnectionStatus status, const std::string& reason);
  void wait(std::chrono::nanoseconds delay);
  [[nodiscard]] std::string name() const;

  std::size_t server_;
  DeviceType type_;
  Surroundings& around_;
  Phase phase_ = Phase::idle;
  ConnectionState state_{};
  RequestId request_ = 0;
  int status_ = 0;
  std::string refusal_;  ///< the begin of what a daemon says that does not stream
  wire::SseReader reader_;
  std::uint64_t dropped_ = 0;  ///< of the reader's, as far as told
  std::uint64_t events_ = 0;
  FlowLimit events_limit_{kMostEventsPerSecond, kEventBurst};
  FlowLimit bytes_limit_{kMostBytesPerSecond, kByteBurst};
  bool was_flooded_ = false;  ///< more came than a daemon sends
  std::uint64_t losses_ = 0;
  std::vector<Device> devices_;  ///< by id
  ClockOffset clock_;
  Backoff backoff_;
  Refusals refusals_;
  TimePoint retry_at_{};
  TimePoint opened_{};  ///< or asked for, while it is being opened
  TimePoint last_sign_{};
  bool needs_seed_ = false;
  bool doubts_clock_ = false;
};

}  // namespace wattle::client
