// Times of day in the forms that programs and spreadsheets write.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace wattle {

/// In milliseconds since 1970, as if a time without a zone were UTC; absent for what is no time, or
/// for a date that may be two days ("02/03/2026"). Dates: 2026/03/02, 2026-03-02, 20260302,
/// 02.03.2026, 2 Mar 2026, Mon Mar 2 09:15:00 2026. Times: 09:15, 09:15:00, 09:15:00.123,
/// 09:15:00,123, with AM or PM, Z, UTC or +01:00. Seconds, ms, us or ns since 1970, by their size.
[[nodiscard]] std::optional<std::int64_t> parse_any_time_ms(std::string_view text) noexcept;

/// True for a date such as "02/03/2026", whose day and month cannot be distinguished.
[[nodiscard]] bool is_ambiguous_date(std::string_view text) noexcept;

/// The times of one table. The form that nvidia-smi writes is read fast, and once a table has it,
/// no other counts: what looks like another one is a damaged row. Threads: one at a time.
class TimeReader {
 public:
  /// See `parse_any_time_ms`. Blanks around a time do not matter.
  [[nodiscard]] std::optional<std::int64_t> read(std::string_view text) noexcept {
    return take(text) ? std::optional(last_ms_) : std::nullopt;
  }
  /// The same: false where it is absent, else it is `last_ms`.
  [[nodiscard]] bool take(std::string_view text) noexcept {
    const bool is_same = is_of_nvidia_smi_ && text.size() == kBytes &&
                         std::memcmp(text.data(), last_.data(), kBytes) == 0;
    return is_same || take_other(text);
  }
  [[nodiscard]] std::int64_t last_ms() const noexcept { return last_ms_; }

 private:
  static constexpr std::size_t kBytes = 23;        ///< "2026/11/21 01:50:09.123"
  static constexpr std::size_t kMinuteBytes = 17;  ///< "2026/11/21 01:50:"

  [[nodiscard]] bool take_other(std::string_view text) noexcept;
  /// A time of the same minute, mostly.
  [[nodiscard]] bool take_next(std::string_view text) noexcept;
  [[nodiscard]] bool take_any(std::string_view text) noexcept;

  bool is_of_nvidia_smi_ = false;
  std::array<char, kBytes> last_{};  ///< of that form
  std::int64_t last_ms_ = 0;         ///< the last time, of that form once there was one
  std::int64_t minute_ms_ = 0;
};

}  // namespace wattle
