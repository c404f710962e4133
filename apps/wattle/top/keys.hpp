// Keys of a terminal, from the bytes that it sends. Pure: no terminal is read here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  /// The keys that `bytes` complete, in order.
  [[nodiscard]] std::vector<Key> take(std::string_view bytes);
  /// A sequence is incomplete: if nothing follows for a moment, call `end_sequence`.
  [[nodiscard]] bool is_waiting() const noexcept { return !pending_.empty(); }
  /// Nothing followed: an escape alone is the key Esc, all else is dropped.
  [[nodiscard]] std::optional<Key> end_sequence();

 private:
  std::string pending_{};
};

}  // namespace wattle::app
