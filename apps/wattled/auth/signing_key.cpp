#include "auth/signing_key.hpp"

namespace wattle::daemon {

std::string read_signing_key(const std::string& path) {
  constexpr std::string_view kSecret = "signing key";
  std::string key = read_secret_file(path, kSecret);
  if (key.size() < kMinKeyBytes) {
    refuse_secret(path, kSecret,
                  "it has " + std::to_string(key.size()) +
                      " bytes and needs 32 at least; make one with 'openssl rand -out FILE 32'");
  }
  return key;
}

}  // namespace wattle::daemon
