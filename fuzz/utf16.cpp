// Text files in UTF-16.
#include <string>

#include "base/text/text.hpp"
#include "base/text/text_encoding.hpp"
#include "check.hpp"

FUZZ_TARGET(utf16)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view bytes = fuzz::text_of(data, size);
  const FileStart start = file_start(bytes);
  fuzz::require(start.mark_bytes <= bytes.size(), "the mark is in the file");
  for (const bool is_little : {true, false}) {
    std::string whole;
    Utf16Decoder(is_little).decode(bytes, whole);
    fuzz::require(valid_utf8(whole) == whole, "what comes out is UTF-8");
    fuzz::require(whole.size() <= bytes.size() / 2 * 3 + 3, "it has room");
    std::string pieces;
    Utf16Decoder decoder(is_little);
    for (const char c : bytes) decoder.decode({&c, 1}, pieces);
    fuzz::require(pieces == whole, "pieces are the same text");
  }
  return 0;
}
