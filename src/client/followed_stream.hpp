// One stream of one server: the powers of its GPUs, or of its CPUs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/schedule.hpp"
#include "client/stream_context.hpp"
#include "client/transport/transport.hpp"
#include "client/update.hpp"
#include "wire/event.hpp"

namespace wattle::client {

/// When a daemon read something, by this machine's clock. Threads: a value type.
struct ReadAt {
  TimePoint at{};
  std::chrono::nanoseconds half_width{};
};

/// Logs invalid data from a daemon: the first refusal, then at most once per minute their number.
/// Not thread-safe.
class RefusalLog {
 public:
  static constexpr std::chrono::seconds kPause{60};

  /// `whose`: "GPU stream of host:4938". `what`: what is refused, and why. `sample`: of the text.
  void note(TimePoint now, const std::string& whose, std::string_view what,
            std::string_view sample);
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t reported_ = 0;
  TimePoint next_{};
};

/// One stream, from its request to its end, and the wait before the next try. Its values go to the
/// hub. Its server (`FollowedServer`) decides when to open it.
///
/// Threads: one at a time (the stream's).
class FollowedStream final : public ResponseHandler {
 public:
  enum class StreamPhase : std::uint8_t {
    idle,     ///< off, or about to be opened
    opening,  ///< requested
    open,     ///< it sends events
    waiting,  ///< until `retry_at`
    denied,   ///< waits longer
  };
  /// A stream without a sign of life for this time is stale ...
  static constexpr std::chrono::seconds kStale = StreamHistory::kSilence;
  /// ... and after this time lost.
  static constexpr std::chrono::seconds kLost{15};
  /// After a silence of this length, a sign confirms the powers at once. `check` confirms the
  /// powers of streams that send more often: an event of one device costs nothing for the others.
  static constexpr std::chrono::milliseconds kSilent{500};
  /// A stream that lasted this long was a success: the next wait is the shortest again.
  static constexpr std::chrono::seconds kSettled{10};

  /// Far more than a daemon sends: 16 GPUs read 100 times per second are 1600 events. A server that
  /// exceeds it counts as lost. The bursts allow for data that waited in sockets while this process
  /// was stopped.
  static constexpr double kMostEventsPerSecond = 1e4;
  static constexpr double kEventBurst = 1e5;
  static constexpr double kMostBytesPerSecond = 4.0 * (1U << 20U);
  static constexpr double kByteBurst = 32.0 * (1U << 20U);

  FollowedStream(std::size_t server, DeviceType type, StreamContext& around);
  FollowedStream(const FollowedStream&) = delete;
  FollowedStream& operator=(const FollowedStream&) = delete;
  ~FollowedStream() override;

  [[nodiscard]] StreamPhase phase() const noexcept { return phase_; }
  [[nodiscard]] DeviceType type() const noexcept { return type_; }
  [[nodiscard]] TimePoint retry_at() const noexcept { return retry_at_; }
  [[nodiscard]] bool waits() const noexcept {
    return phase_ == StreamPhase::waiting || phase_ == StreamPhase::denied;
  }
  [[nodiscard]] bool needs_seed() const noexcept {
    return phase_ == StreamPhase::open && needs_seed_;
  }
  /// The time of the last sign of life.
  [[nodiscard]] TimePoint last_sign() const noexcept { return last_sign_; }

  /// Sets the devices that the daemon serves; others are reported as gone.
  void serve(const std::vector<DeviceId>& devices);
  /// Reports that the server is asked for it, for the first time.
  void expect();
  void open(std::string_view target);
  void turn_off(const std::string& reason);
  void deny(const std::string& reason);
  /// Ends it, and waits before the next try. The wait grows, but not for a server that does not
  /// answer (`is_answered` false): asking it costs the server nothing.
  void lose(const std::string& reason, bool is_answered = true);
  /// Reports that it is stopped. Call it before it is destroyed.
  void end();

  /// Takes powers from a single request; ignores those that are older than the stream's.
  void seed(const wire::PowerEvent& powers);
  void note_seeded() noexcept { needs_seed_ = false; }
  /// The daemon is alive.
  void note_sign();
  /// Checks the time since the last sign of life.
  void check();
  void set_clock(const ClockOffset& clock) noexcept { clock_ = clock; }
  /// True if the daemon reports that it does not know the power of this device, or of its memory.
  [[nodiscard]] bool is_unknown(DeviceId id, bool is_dram) const noexcept;
  /// A time of the daemon by this machine's clock; absent: the offset of its clock is unknown.
  [[nodiscard]] std::optional<ReadAt> read_at(wire::UnixMs timestamp_ms) const noexcept;
  /// The number of times that it was lost.
  [[nodiscard]] std::uint64_t losses() const noexcept { return losses_; }
  /// True once after an event with an impossible time: the daemon's clock, or this machine's, was
  /// set.
  [[nodiscard]] bool take_doubt() noexcept { return std::exchange(doubts_clock_, false); }

  void began(int status) override;
  [[nodiscard]] bool received(std::string_view bytes) override;
  void ended(const RequestEnding& ending) override;

 private:
  struct DeviceFeed {
    DeviceId id = 0;
    std::uint32_t slot = 0;
    double timestamp_ms = 0.0;  ///< of the newest event in this connection; 0: none
    std::uint64_t event = 0;    ///< the number of that event
    bool is_served = false;
    bool has_value = false;
    bool has_reason = false;       ///< its power is unknown, with a reason
    bool has_dram_reason = false;  ///< likewise of its memory
  };

  /// Notes a sign of life. True if it ended a silence of `kSilent`.
  [[nodiscard]] bool take_sign();
  /// The powers hold at least until the last sign of life.
  void confirm_powers();
  void take_event(std::string_view json);
  void take_comment(std::string_view comment);
  /// An empty `reason` removes it.
  void set_reason(DeviceFeed& device, bool is_dram, std::string reason);
  void clear_reasons(DeviceFeed& device);
  void apply(const wire::PowerEvent& event);
  void put(DeviceFeed& device, const wire::DevicePower& power, double timestamp_ms);
  void put_gone(DeviceFeed& device);
  void book_power(const DeviceFeed& device, const wire::DevicePower& power, double timestamp_s);
  /// Calls `visit(key)` for the quantities of a device in the book.
  template <class Visit>
  void each_booked(const DeviceFeed& device, Visit visit) const;
  [[nodiscard]] DeviceFeed* find(DeviceId id) noexcept;
  void refuse(std::string_view what, std::string_view sample);
  void set_state(ConnectionStatus status, const std::string& reason);
  void wait(std::chrono::nanoseconds delay);
  [[nodiscard]] std::string name() const;

  std::size_t server_;
  DeviceType type_;
  StreamContext& context_;
  StreamPhase phase_ = StreamPhase::idle;
  ConnectionState state_{};
  RequestId request_ = 0;
  int status_ = 0;
  std::string refusal_;  ///< the start of the body of a refusal
  wire::SseReader reader_;
  std::uint64_t dropped_ = 0;  ///< events that the reader dropped and that are reported
  std::uint64_t events_ = 0;
  FlowLimit events_limit_{kMostEventsPerSecond, kEventBurst};
  FlowLimit bytes_limit_{kMostBytesPerSecond, kByteBurst};
  bool exceeded_limits_ = false;  ///< the server exceeded its limits
  std::uint64_t losses_ = 0;
  std::vector<DeviceFeed> devices_;  ///< by id
  ClockOffset clock_;
  RetryDelay backoff_;
  RefusalLog refusals_;
  TimePoint retry_at_{};
  TimePoint opened_{};  ///< or requested, while opening
  TimePoint last_sign_{};
  bool needs_seed_ = false;
  bool doubts_clock_ = false;
};

}  // namespace wattle::client
