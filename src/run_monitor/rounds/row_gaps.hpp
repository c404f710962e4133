// The times between the rows of a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace wattle {

/// The gaps between the rows of one device. Threads: one at a time.
class RowGaps {
 public:
  enum class GapKind : std::uint8_t {
    first,  ///< there was no row before
    usual,  ///< the row follows the one before
    pause,  ///< so late that the writer did not run in between
    back,   ///< not after it: the clock was set back, as local time is each autumn
  };
  struct RowGap {
    GapKind kind = GapKind::first;
    std::int64_t length_ms = 0;
    std::int64_t usual_ms = 0;  ///< but for the first: what most gaps have

    /// For how much the row counts in a mean: the time since the row before, in ms. Absent where
    /// nobody knows.
    [[nodiscard]] std::optional<double> weight() const noexcept {
      return kind == GapKind::usual ? std::optional(static_cast<double>(length_ms)) : std::nullopt;
    }
    /// More than two rows are missing.
    [[nodiscard]] bool lacks_rows() const noexcept {
      return kind == GapKind::usual && length_ms * 2 > usual_ms * 7;
    }
  };

  /// A row of `time_ms`, whatever that is counted from.
  [[gnu::always_inline]] RowGap next(std::int64_t time_ms) noexcept {
    const std::optional<std::int64_t> last = last_ms_;
    last_ms_ = time_ms;
    if (!last) return {};
    const std::int64_t length_ms = time_ms - *last;
    if (length_ms <= 0) {
      return {.kind = GapKind::back, .length_ms = length_ms, .usual_ms = pace_ms_};
    }
    keep(length_ms);
    bool is_pause = is_long(length_ms);
    if (count_ < kRecent || next_ == 0 || is_pause) {
      pace_ms_ = median();
      is_pause = is_long(length_ms);
    }
    is_pause = std::exchange(is_broken_off_, false) || is_pause;
    return {.kind = is_pause ? GapKind::pause : GapKind::usual,
            .length_ms = length_ms,
            .usual_ms = pace_ms_};
  }
  /// The times of the first rows, from which it is known what is usual before the first of them.
  template <class Times>
  void learn(const Times& times_ms) noexcept {
    std::optional<std::int64_t> last_ms;
    for (const std::int64_t time_ms : times_ms) {
      if (last_ms && time_ms > *last_ms) keep(time_ms - *last_ms);
      last_ms = time_ms;
    }
    pace_ms_ = count_ == 0 ? 0 : median();
  }
  /// A usual gap; 0 where none is known.
  [[nodiscard]] std::int64_t pace_ms() const noexcept { return pace_ms_; }
  /// The next row follows none.
  void forget_last() noexcept { last_ms_.reset(); }
  /// The next row may be of another device: the time before it is a pause.
  void break_off() noexcept { is_broken_off_ = true; }

  /// This number of gaps shows which are usual.
  static constexpr std::size_t kRecent = 15;

 private:
  /// A pause this many times as long as most gaps was not intended by the writer.
  static constexpr std::int64_t kLongestPause = 10;
  /// Nobody writes a row so seldom: ten days.
  static constexpr std::int64_t kLongestMs = std::int64_t{10} * 24 * 3600 * 1000;

  [[nodiscard]] bool is_long(std::int64_t length_ms) const noexcept {
    return length_ms > kLongestMs || length_ms > kLongestPause * pace_ms_;
  }
  void keep(std::int64_t length_ms) noexcept {
    recent_[next_] = length_ms;
    next_ = next_ + 1 == kRecent ? 0 : next_ + 1;
    count_ = std::max(count_, next_ == 0 ? kRecent : next_);
  }
  /// The lower median of the last gaps.
  [[nodiscard, gnu::noinline]] std::int64_t median() const noexcept {
    std::array<std::int64_t, kRecent> lengths = recent_;
    const std::size_t middle = (count_ - 1) / 2;
    std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(middle),
                     lengths.begin() + static_cast<std::ptrdiff_t>(count_));
    return lengths[middle];
  }

  std::optional<std::int64_t> last_ms_;
  std::array<std::int64_t, kRecent> recent_{};
  std::size_t next_ = 0;   ///< place of the next one
  std::size_t count_ = 0;  ///< of those that are kept
  std::int64_t pace_ms_ = 0;
  bool is_broken_off_ = false;
};

}  // namespace wattle
