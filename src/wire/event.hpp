// The events of a power stream, of either generation, from bytes that arrive in pieces: the lines
// of server-sent events, and what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "wire/messages.hpp"

namespace wattle::wire {

/// Takes pieces of any size, and returns the data of each event: its `data:` lines, with or without
/// the blank, joined by line feeds. Lines end in LF, CRLF or CR. Comments go to `on_comment`; other
/// fields (`event:`, `id:`, `retry:`) are ignored. An event longer than `kLongestEvent`, or with a
/// longer line, is dropped and counted, and the next event follows. Data within one piece is not
/// copied.
///
/// Threads: one at a time.
class SseReader {
 public:
  static constexpr std::size_t kLongestEvent = std::size_t{1} << 20U;
  /// Gets the text of a comment, without its colon and blank; valid during the call.
  using OnComment = std::function<void(std::string_view)>;

  explicit SseReader(OnComment on_comment = {}) : on_comment_(std::move(on_comment)) {}

  /// Removes the bytes up to the end of the next event from `bytes`, and returns the event's data,
  /// which is valid until the next call. Absent: all bytes were taken.
  [[nodiscard]] std::optional<std::string_view> next(std::string_view& bytes);

  /// Events that were dropped so far because of their length.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// Allocated memory in bytes.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return line_.capacity() + data_.capacity();
  }

 private:
  [[nodiscard]] std::optional<std::string_view> end_line(std::string_view line, bool is_lasting);
  [[nodiscard]] std::optional<std::string_view> end_event() noexcept;
  void keep_piece_of_line(std::string_view piece);
  void add_data(std::string_view data, bool is_lasting);
  void keep_data();
  void drop_event() noexcept;
  void start_event() noexcept;

  OnComment on_comment_;
  std::string line_;               ///< the start of a line whose end has not arrived
  std::string data_;               ///< of the event so far, unless `lasting_data_` has it
  std::string_view lasting_data_;  ///< refers to the caller's bytes
  std::uint64_t dropped_ = 0;
  bool has_data_ = false;
  bool is_dropping_ = false;       ///< drops up to the next blank line
  bool line_was_dropped_ = false;  ///< the line's start was: its end is no blank line
  bool after_cr_ = false;          ///< an LF would belong to the previous line end
  bool is_first_line_ = true;
  bool was_given_ = false;  ///< the caller uses the data until the next call
};

struct DevicePower {
  DeviceId id = 0;
  std::optional<double> power_mw{};  ///< absent: unknown (CPUs only)
  std::optional<double> dram_mw{};   ///< absent: unknown
  friend bool operator==(const DevicePower&, const DevicePower&) = default;
};

struct PowerEvent {
  double timestamp_ms = 0;  ///< since 1970-01-01 UTC, by the daemon's clock
  /// The event has all devices: others are no longer served.
  bool is_snapshot = false;
  std::span<const DevicePower> devices{};
};

/// Parses events of either generation. Safe for untrusted text: throws only if memory runs out, and
/// allocates only what the longest event needs. Unknown keys are ignored. Not thread-safe.
class EventParser {
 public:
  EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;
  ~EventParser();

  /// Parses one event of a stream of `type`. The result is valid until the next call. Absent:
  /// invalid, see `refusal`.
  [[nodiscard]] std::optional<PowerEvent> parse(DeviceType type, std::string_view json);
  /// Why the last event was refused.
  [[nodiscard]] std::string_view refusal() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle::wire
