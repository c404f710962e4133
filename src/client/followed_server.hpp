// One server: what it serves, how far its clock is off, and its two streams.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/clock_offset.hpp"
#include "client/followed_stream.hpp"
#include "client/inquiry.hpp"
#include "client/server_counters.hpp"
#include "client/surroundings.hpp"
#include "wire/decode.hpp"
#include "wire/messages.hpp"

namespace wattle::client {

/// Why a server cannot be followed as was asked for.
struct Trouble {
  enum class Kind : std::uint8_t { connection, token, scope, device };
  Kind kind = Kind::connection;
  std::string what{};  ///< a sentence
};

/// Asks a daemon what it serves (/discover), what the token permits (/auth/whoami) and what time it
/// has (/time), then for the streams, and then for the powers of now, since a stream tells changes
/// only. It does so again when a stream was lost: the daemon may be another one by then. While
/// streams are silent it asks for the time once a second, as a sign of life; once a minute to
/// compare the clocks.
///
/// Threads: one at a time (the stream's).
class FollowedServer {
 public:
  enum class Progress : std::uint8_t {
    asking,   ///< nothing is known yet
    failed,   ///< no answer, the first time; it is tried again
    reached,  ///< it is known what is served
    settled,  ///< and the first powers are there, or will not be
  };
  static constexpr std::chrono::seconds kLook{1};
  static constexpr std::chrono::minutes kClockPeriod{1};
  /// A clock that seems to have been set is compared again, but no more often than this.
  static constexpr std::chrono::seconds kClockPause{5};
  static constexpr int kRoundTrips = 5;
  /// Of each type. More are not believed.
  static constexpr std::size_t kMostDevices = 4096;

  FollowedServer(std::size_t place, Surroundings& around);
  FollowedServer(const FollowedServer&) = delete;
  FollowedServer& operator=(const FollowedServer&) = delete;
  ~FollowedServer() = default;

  void start();
  /// Does what is due, and says by the timers when to come back.
  void tick();
  /// Says that it is followed no more: it is about to be destroyed.
  void end();

  [[nodiscard]] Progress progress() const noexcept { return progress_; }
  /// The first that came up; absent: none so far.
  [[nodiscard]] const std::optional<Trouble>& trouble() const noexcept { return trouble_; }
  /// True if something is streamed, or would be, were there a connection; also while nothing is
  /// known.
  [[nodiscard]] bool has_something() const noexcept;

 private:
  using Phase = FollowedStream::Phase;

  void ask(std::string target, Inquiry::Then then, bool is_last = false);
  void set_up();
  void fail_set_up(const std::string& reason, bool is_answered = true);
  /// What the answer says; absent where it is none, and then the set-up has failed.
  template <class Value>
  [[nodiscard]] std::optional<Value> take(std::string_view path, const Answer& answer,
                                          wire::Decoded<Value> (*decode)(std::string_view));
  void take_discovery(const Answer& answer);
  void take_identity(const Answer& answer);
  void decide();
  void report_cpu_limit();
  void decide_on(FollowedStream& stream, const std::vector<DeviceId>& served);
  [[nodiscard]] std::string refusal_of(DeviceType type, Trouble::Kind& kind) const;
  void compare_clocks(int left, std::function<void()> then);
  void open_streams();
  void ask_seed(FollowedStream& stream);
  void ask_for_life();
  /// Does what is due for it; tells when the next is.
  [[nodiscard]] TimePoint look_at(FollowedStream& stream, bool may_count);
  void look_for_settled();
  [[nodiscard]] bool wants(DeviceType type) const noexcept;
  [[nodiscard]] std::string target_of(const FollowedStream& stream, std::string_view what) const;
  void note_trouble(Trouble::Kind kind, const std::string& what);
  void note_life();

  std::size_t place_;
  const Server& server_;
  Surroundings& around_;
  Inquiry inquiry_;
  std::array<FollowedStream, 2> streams_;  ///< by DeviceType
  ServerCounters counters_;

  wire::Discovery discovery_;  ///< while it is being decided on
  std::optional<wire::Identity> identity_;
  std::string token_trouble_;  ///< why the token does not count; empty: it does, or none is wanted
  std::array<bool, 2> is_served_{};  ///< to be opened
  Progress progress_ = Progress::asking;
  std::optional<Trouble> trouble_;
  ClockOffset best_round_trip_;
  TimePoint clock_due_{};  ///< to be compared again
  bool sets_up_ = false;
  bool is_reported_ = false;  ///< that it cannot be asked what it serves, since it last could
  bool is_cpu_limit_reported_ = false;
  bool compares_clocks_ = false;
  bool asks_for_life_ = false;
  int seeds_asked_ = 0;  ///< the powers of now, not answered yet
};

}  // namespace wattle::client
