#include "auth/base64url.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

namespace wattle::daemon {
namespace {

unsigned char* bytes_of(std::string& text) {
  return static_cast<unsigned char*>(static_cast<void*>(text.data()));
}

const unsigned char* bytes_of(std::string_view text) {
  return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

}  // namespace

std::string to_base64url(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // a zero byte at the end
  ::EVP_EncodeBlock(bytes_of(text), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize((bytes.size() * 4 + 2) / 3);  // without padding
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.resize((text.size() + 3) / 4 * 4, '=');
  std::string bytes(padded.size(), '\0');
  const int size = ::EVP_DecodeBlock(bytes_of(bytes), bytes_of(std::as_const(padded)),
                                     static_cast<int>(padded.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(text.size() * 3 / 4);
  // OpenSSL also accepts other texts of these bytes: with blanks at the ends, or bits after the
  // end.
  if (to_base64url(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace wattle::daemon
