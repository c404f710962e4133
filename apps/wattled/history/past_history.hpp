// The readings of earlier runs of the daemon, from the chunks of the history on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "history/chunk_format.hpp"
#include "sampling/history.hpp"

namespace wattle::daemon {

/// A channel of the past. Its times are stored times.
class PastChannel {
 public:
  /// Throws `InvalidArgument` for a channel that no history takes.
  PastChannel(Channel channel, std::chrono::nanoseconds period);

  /// Adds a value that was read at `at`. Times that do not increase are left out: the wall clock
  /// was set back; then the time until the next value is unknown.
  void add(TimePoint at, std::uint64_t raw);
  /// The time until the next value is unknown.
  void note_gap() noexcept { has_gap_ = true; }
  /// Nothing more is added: nothing is known after the last value.
  void close() noexcept;
  [[nodiscard]] std::optional<TimePoint> newest() const noexcept { return newest_; }
  void set_period(std::chrono::nanoseconds period) noexcept { history_.set_period(period); }

  [[nodiscard]] const History& history() const noexcept { return history_; }
  [[nodiscard]] const Channel& channel() const noexcept { return history_.channel(); }

 private:
  History history_;
  std::optional<TimePoint> newest_{};
  bool has_gap_ = false;
};

class PowerSlots;

/// The channels of a domain while their descriptions stayed the same.
struct PastEra {
  std::vector<std::unique_ptr<PastChannel>> channels;
  TimePoint first = TimePoint::max();  ///< the times of its first and last values
  TimePoint last = TimePoint::min();
  /// For long columns; null before `prepare_columns`.
  std::shared_ptr<const PowerSlots> slots{};
  /// Gauges of power, those with little delay first; empty before `prepare_columns`.
  std::vector<const History*> sorted_gauges{};

  /// Null where it has none.
  [[nodiscard]] const History* counter() const noexcept;
  /// Gauges of power, those with little delay first.
  [[nodiscard]] std::vector<const History*> gauges() const;
};

/// The fault of a chunk.
struct ChunkReport {
  /// Why nothing of it is used; empty: it is used.
  std::string_view refusal{};
  std::size_t values = 0;         ///< that were read
  std::size_t damaged_bytes = 0;  ///< that were left out
  std::size_t torn_bytes = 0;     ///< at its end, from a daemon that was killed
};

struct PastOptions {
  TimePoint begin;            ///< values before it are left out
  TimePoint end;              ///< likewise from it on: the start of this run
  std::uint64_t machine = 0;  ///< chunks of another one are refused; 0: unknown
};

/// Threads: one at a time to add; then any.
class PastHistory {
 public:
  explicit PastHistory(const PastOptions& options) : options_(options) {}

  /// Adds a chunk. Those of one session in their order, sessions by their times.
  ChunkReport add(std::string_view chunk);

  /// The eras of a domain of this device, in order; null: nothing is known. A domain that was of
  /// another device then is another one.
  [[nodiscard]] const std::vector<PastEra>* find(const Domain& domain,
                                                 const std::string& device) const;
  /// The end of what was read by earlier runs.
  [[nodiscard]] TimePoint end() const noexcept { return options_.end; }
  /// The time of the first value; absent: there is none.
  [[nodiscard]] std::optional<TimePoint> first() const noexcept { return first_; }
  template <class Visit>
  void for_each_era(Visit visit) {
    for (auto& [key, eras] : domains_) {
      for (PastEra& era : eras) visit(era);
    }
  }

 private:
  using Key = std::pair<Domain, std::string>;
  /// A channel of the present session.
  struct SessionChannel {
    Key key;
    std::size_t era = 0;
    std::size_t channel = 0;
  };
  void start_session(const ChunkHeader& header);
  void add(const StoredChannel& stored);
  std::size_t add(const ValueBatch& batch);
  std::size_t add(PastEra& era, PastChannel& channel, const ChannelValues& values);
  /// The channel in the last era of its domain; starts an era where its description is another.
  [[nodiscard]] std::optional<SessionChannel> place_of(const StoredChannel& stored);
  void note_gap();

  PastOptions options_;
  std::map<Key, std::vector<PastEra>> domains_;
  std::size_t channels_ = 0;  ///< in all eras
  std::map<std::uint64_t, SessionChannel> places_;
  std::optional<std::uint64_t> session_{};
  std::uint64_t next_batch_ = 0;
  bool has_skipped_ = false;  ///< values of this chunk, of a channel without a description
  std::optional<TimePoint> first_{};
};

}  // namespace wattle::daemon
