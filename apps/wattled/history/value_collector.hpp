// Takes what was read since the last time out of histories, for the files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "history/chunk_format.hpp"
#include "sampling/history.hpp"

namespace wattle::daemon {

/// A history of a channel that gives the energy of a domain.
struct HistorySource {
  std::string device;  ///< its UUID, or its PCI address; empty: unknown
  const History* history = nullptr;
};

/// Threads: one at a time; those that read devices go on.
class ValueCollector {
 public:
  struct CollectedValues {
    std::vector<StoredChannel> new_channels;  ///< seen for the first time
    ValueBatch batch;
  };
  /// The values read until `now`. Batches with values are numbered in their order.
  [[nodiscard]] CollectedValues collect(const std::vector<HistorySource>& sources, TimePoint now);

 private:
  /// How far a channel was taken.
  struct Cursor {
    std::uint64_t id = 0;
    std::optional<TimePoint> taken{};  ///< steady
    bool has_gap = true;               ///< before the next value
  };
  /// An interval of steady time without values.
  struct Unknown {
    TimePoint begin;
    TimePoint end;
  };
  /// The most that one call takes of one channel.
  struct Taking {
    Cursor& cursor;
    ChannelValues& into;
    std::vector<Unknown> unknown;
    TimePoint latest;  ///< stored time: no value is later
  };
  [[nodiscard]] static ChannelValues take(const History& history, Cursor& cursor, TimePoint now);
  /// Without the unknown intervals in it.
  static void take_known(const StoredReading& reading, Taking& taking);
  /// In parts in which the wall clock was not set.
  static void take_steps(StoredReading part, Taking& taking);
  static void take_part(const StoredReading& part, Taking& taking);

  std::map<const History*, Cursor> cursors_;
  std::uint64_t batches_ = 0;
};

}  // namespace wattle::daemon
