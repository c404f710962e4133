#include "serve/secrets.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

#include "auth/signing_key.hpp"
#include "serve/log.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

void reload(std::string_view what, const std::function<void()>& read) {
  try {
    read();
    log_info(fmt::format("reloaded the {}", what));
  } catch (const Error& error) {
    log_error(fmt::format("cannot reload the {}, which stays as it was: {}", what, error.what()));
  }
}

}  // namespace

Secrets read_secrets(const ServeOptions& options) {
  Secrets secrets;
  if (!options.key_path.empty()) secrets.key = read_signing_key(options.key_path);
  if (!options.revoked_path.empty()) secrets.revoked = read_revoked(options.revoked_path);
  if (!options.tls_certificate.empty()) {
    secrets.tls = std::make_unique<TlsServer>(options.tls_certificate, options.tls_key,
                                              options.tls_client_authorities);
  }
  return secrets;
}

void read_again(const Secrets& secrets, const ServeOptions& options, Service& service) {
  if (!options.key_path.empty()) {
    reload("signing key", [&] { service.set_key(read_signing_key(options.key_path)); });
  }
  if (!options.revoked_path.empty()) {
    reload("file of revoked tokens", [&] { service.revoke(read_revoked(options.revoked_path)); });
  }
  if (secrets.tls) {
    reload("certificate", [&] { secrets.tls->reload(); });
  }
}

}  // namespace wattle::daemon
