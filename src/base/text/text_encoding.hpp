// In which encoding a text file is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wattle {

enum class Encoding : std::uint8_t { utf8, utf16_little, utf16_big };

/// The encoding that the first bytes of a file show.
struct FileStart {
  Encoding encoding = Encoding::utf8;
  std::size_t mark_bytes = 0;  ///< length of the byte order mark
  /// "a gzip file": no text, or text in an encoding that is not read; empty for text.
  std::string_view foreign{};
};

/// UTF-16 is recognized by its byte order mark, or where every other byte of the first ones is 0,
/// which no UTF-8 text has.
[[nodiscard]] FileStart file_start(std::string_view first_bytes) noexcept;

/// From UTF-16 to UTF-8, piece by piece. Halves of surrogate pairs become U+FFFD. Threads: one at a
/// time.
class Utf16Decoder {
 public:
  explicit Utf16Decoder(bool is_little = true) noexcept : is_little_(is_little) {}
  /// Appends the text of `bytes` to `text`: at most 3 bytes for 2, and 3 more.
  void decode(std::string_view bytes, std::string& text);

 private:
  void take(std::uint32_t unit, std::string& text);

  bool is_little_;
  bool has_half_ = false;
  unsigned char half_ = 0;  ///< the first byte of a unit whose second did not come yet
  std::uint32_t high_ = 0;  ///< the first half of a surrogate pair; 0: none
};

}  // namespace wattle
