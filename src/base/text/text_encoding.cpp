#include "base/text/text_encoding.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace wattle {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  std::string_view name;
};

constexpr std::array kForeign = {
    Signature{"\x1F\x8B"sv, "a gzip file"},
    Signature{"\x28\xB5\x2F\xFD"sv, "a zstd file"},
    Signature{"\xFD"
              "7zXZ\0"sv,
              "an xz file"},
    Signature{"BZh"sv, "a bzip2 file"},
    Signature{"PK\x03\x04"sv, "a ZIP file (as an .xlsx workbook is)"},
    Signature{"SQLite format 3\0"sv, "an SQLite database"},
    Signature{"\x7F"
              "ELF"sv,
              "a program"},
    Signature{"\xFF\xFE\0\0"sv, "text in UTF-32"},
    Signature{"\0\0\xFE\xFF"sv, "text in UTF-32"},
};

/// True if the bytes at `zeros`, `zeros` + 2 ... are 0, and the others are not.
bool has_every_other_zero(std::string_view bytes, std::size_t zeros) noexcept {
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kMost = 64;
  const std::size_t count = std::min(bytes.size() & ~std::size_t{1}, kMost);
  if (count < kFewest) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if ((bytes[i] == '\0') != (i % 2 == zeros)) return false;
  }
  return true;
}

void append_utf8(std::uint32_t code, std::string& text) {
  const auto add = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | code >> 6U);
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | code >> 18U);
    add(0x80U | (code >> 12U & 0x3FU));
    add(0x80U | (code >> 6U & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

constexpr std::uint32_t kReplacement = 0xFFFD;

}  // namespace

FileStart file_start(std::string_view first_bytes) noexcept {
  for (const Signature& signature : kForeign) {
    if (first_bytes.starts_with(signature.bytes)) return {.foreign = signature.name};
  }
  if (first_bytes.starts_with("\xEF\xBB\xBF")) return {.mark_bytes = 3};
  if (first_bytes.starts_with("\xFF\xFE")) {
    return {.encoding = Encoding::utf16_little, .mark_bytes = 2};
  }
  if (first_bytes.starts_with("\xFE\xFF")) {
    return {.encoding = Encoding::utf16_big, .mark_bytes = 2};
  }
  if (has_every_other_zero(first_bytes, 1)) return {.encoding = Encoding::utf16_little};
  if (has_every_other_zero(first_bytes, 0)) return {.encoding = Encoding::utf16_big};
  return {};
}

void Utf16Decoder::decode(std::string_view bytes, std::string& text) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!std::exchange(has_half_, !has_half_)) {
      half_ = byte;
      continue;
    }
    const std::uint32_t low = is_little_ ? half_ : byte;
    const std::uint32_t high = is_little_ ? byte : half_;
    take(high << 8U | low, text);
  }
}

void Utf16Decoder::take(std::uint32_t unit, std::string& text) {
  const bool is_high = unit >= 0xD800 && unit < 0xDC00;
  const bool is_low = unit >= 0xDC00 && unit < 0xE000;
  const std::uint32_t high = std::exchange(high_, is_high ? unit : 0);
  if (is_low && high != 0) {
    append_utf8(0x10000 + ((high - 0xD800) << 10U) + (unit - 0xDC00), text);
    return;
  }
  if (high != 0) append_utf8(kReplacement, text);
  if (!is_high) append_utf8(is_low ? kReplacement : unit, text);
}

}  // namespace wattle
