#include "jwt.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

namespace wattle::integration {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

}  // namespace

std::string jwt_part(std::string_view bytes) {
  std::string text(4 * (bytes.size() / 3 + 1) + 1, '\0');
  const int size = ::EVP_EncodeBlock(static_cast<unsigned char*>(static_cast<void*>(text.data())),
                                     bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  std::erase(text, '=');
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::string jwt(std::string_view header, std::string_view claims, std::string_view key,
                const char* hash) {
  const std::string message = jwt_part(header) + '.' + jwt_part(claims);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  EXPECT_NE(::HMAC(::EVP_get_digestbyname(hash), key.data(), static_cast<int>(key.size()),
                   bytes_of(message), message.size(), mac.data(), &size),
            nullptr);
  return message + '.' +
         jwt_part({static_cast<const char*>(static_cast<const void*>(mac.data())), size});
}

}  // namespace wattle::integration
