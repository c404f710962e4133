// One server: its devices, its clock and its two streams.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/followed_stream.hpp"
#include "client/server_counters.hpp"
#include "client/stream_context.hpp"
#include "client/transport/transport.hpp"
#include "client/update.hpp"
#include "wire/message_json.hpp"
#include "wire/messages.hpp"

namespace wattle::client {

/// Why a server cannot be followed as requested.
struct Trouble {
  enum class TroubleKind : std::uint8_t { connection, token, scope, device };
  TroubleKind kind = TroubleKind::connection;
  std::string what{};  ///< a sentence
};

/// Asks a daemon for its devices (/discover), the rights of the token (/auth/whoami), its time
/// (/time), the streams, and the current powers, since a stream sends only changes. Repeats that
/// after a stream was lost: the daemon may be another one. Asks for the time once per second while
/// streams are silent (a sign of life), and once per minute to compare the clocks.
///
/// Threads: one at a time (the stream's).
class FollowedServer {
 public:
  enum class ServerProgress : std::uint8_t {
    asking,   ///< no answer yet
    failed,   ///< the first try failed; more follow
    reached,  ///< its devices are known
    settled,  ///< the first powers are known, or none will come
  };
  static constexpr std::chrono::seconds kLifePeriod{1};
  static constexpr std::chrono::minutes kClockPeriod{1};
  /// The shortest time between two comparisons of a clock that seems to have been set; it doubles
  /// while they do not help.
  static constexpr std::chrono::seconds kClockPause{5};
  static constexpr std::chrono::seconds kLongestClockPause = kClockPeriod;
  static constexpr int kRoundTrips = 5;
  /// Most devices of each type. An answer with more is refused.
  static constexpr std::size_t kMostDevices = 4096;

  FollowedServer(std::size_t place, StreamContext& around);
  FollowedServer(const FollowedServer&) = delete;
  FollowedServer& operator=(const FollowedServer&) = delete;
  ~FollowedServer() = default;

  void start();
  /// Does what is due, and sets its timer for the next call.
  void tick();
  /// Reports that it is no longer followed. Call it before it is destroyed.
  void end();

  [[nodiscard]] ServerProgress progress() const noexcept { return progress_; }
  /// The first trouble; absent: none so far.
  [[nodiscard]] const std::optional<Trouble>& trouble() const noexcept { return trouble_; }
  /// True if a stream is available, or would be with a connection; also before the first answer.
  [[nodiscard]] bool has_streams() const noexcept;

 private:
  using Phase = FollowedStream::StreamPhase;

  void set_up();
  void fail_set_up(const std::string& reason, bool is_answered = true);
  /// The decoded answer; absent: invalid, and the set-up has failed.
  template <class Value>
  [[nodiscard]] std::optional<Value> take(std::string_view path, const InquiryAnswer& answer,
                                          wire::Decoded<Value> (*decode)(std::string_view));
  void take_discovery(const InquiryAnswer& answer);
  void take_identity(const InquiryAnswer& answer);
  void decide();
  void report_cpu_limit();
  void decide_on(FollowedStream& stream, const std::vector<DeviceId>& served);
  [[nodiscard]] std::string refusal_of(DeviceType type, Trouble::TroubleKind& kind) const;
  void compare_clocks(int left, std::function<void()> then);
  void note_compared();
  void open_streams();
  void ask_seed(FollowedStream& stream);
  void request_sign_of_life();
  /// Does what is due for the stream; returns the time of its next action.
  [[nodiscard]] TimePoint tick_stream(FollowedStream& stream, bool may_count);
  void check_settled();
  [[nodiscard]] bool wants(DeviceType type) const noexcept;
  [[nodiscard]] std::string target_of(const FollowedStream& stream, std::string_view what) const;
  void note_trouble(Trouble::TroubleKind kind, const std::string& what);
  void note_sign_of_life();

  std::size_t place_;
  const Server& server_;
  StreamContext& context_;
  Inquiry inquiry_;
  std::array<FollowedStream, 2> streams_;  ///< by DeviceType
  ServerCounters counters_;

  wire::Discovery discovery_;  ///< during the set-up
  std::optional<wire::Identity> identity_;
  std::string token_trouble_;        ///< why the token is refused; empty: it is not
  std::array<bool, 2> is_served_{};  ///< streams to open, by DeviceType
  ServerProgress progress_ = ServerProgress::asking;
  std::optional<Trouble> trouble_;
  ClockOffset best_round_trip_;
  TimePoint clock_due_{};       ///< time of the next comparison
  TimePoint clock_compared_{};  ///< time of the last one
  std::chrono::seconds clock_pause_ = kClockPause;
  bool is_clock_doubted_ = false;  ///< since the last comparison
  bool sets_up_ = false;
  bool is_reported_ = false;  ///< the current outage is logged
  bool is_cpu_limit_reported_ = false;
  bool compares_clocks_ = false;
  bool requests_sign_of_life_ = false;
  int seeds_asked_ = 0;  ///< requests for current powers without an answer yet
};

}  // namespace wattle::client
