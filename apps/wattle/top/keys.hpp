// Keys of a terminal, from the bytes that it sends. Pure: no terminal is read here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/clock.hpp"

namespace wattle::app {

enum class KeyKind : std::uint8_t {
  character,  ///< see `Key::text`
  enter,
  escape,
  backspace,
  interrupt,  ///< Ctrl-C or Ctrl-D
  refresh,    ///< Ctrl-L
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  click,  ///< see `Key::column` and `Key::line`
  wheel_up,
  wheel_down,
};

struct Key {
  KeyKind kind = KeyKind::character;
  std::string text{};      ///< one printable character in UTF-8
  std::size_t column = 0;  ///< of the mouse, from 0
  std::size_t line = 0;
  friend bool operator==(const Key&, const Key&) = default;
};

/// Decodes UTF-8, the escape sequences of the usual terminals, and mouse reports (SGR and X10).
/// What it does not know is ignored, whatever it is. Keeps at most `kMostPending` bytes. Threads:
/// one at a time.
class KeyDecoder {
 public:
  static constexpr std::size_t kMostPending = 64;
  /// If nothing follows for so much time, a sequence has ended: over a slow line its bytes come
  /// apart.
  static constexpr std::chrono::milliseconds kPatience{50};

  /// The keys that `bytes` complete, in order. They came at `now`.
  [[nodiscard]] std::vector<Key> take(std::string_view bytes, TimePoint now = {});
  /// A sequence is incomplete.
  [[nodiscard]] bool is_waiting() const noexcept { return !pending_.empty(); }
  /// How long `end_sequence` has to wait, rounded up; -1 where nothing is incomplete.
  [[nodiscard]] int wait_ms(TimePoint now) const noexcept;
  /// If nothing followed for `kPatience`: an escape alone is the key Esc, all else is dropped.
  [[nodiscard]] std::optional<Key> end_sequence(TimePoint now);

 private:
  std::string pending_{};
  TimePoint last_{};  ///< when the newest bytes came
};

}  // namespace wattle::app
