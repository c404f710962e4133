#pragma once

#include <memory>
#include <optional>
#include <string>

#include "auth/revoked.hpp"
#include "http/transport.hpp"
#include "serve/options.hpp"
#include "serve/service.hpp"

namespace wattle::daemon {

/// The contents of the files that the options name.
struct Secrets {
  std::optional<std::string> key;
  Revoked revoked;
  std::unique_ptr<TlsServer> tls;  ///< null without encryption
};

/// Throws an Error that names the file that cannot be used.
[[nodiscard]] Secrets read_secrets(const ServeOptions& options);

/// Reads the files again, and gives the service what they hold now. A file that fails keeps its
/// earlier contents; the log says so.
void read_again(const Secrets& secrets, const ServeOptions& options, Service& service);

}  // namespace wattle::daemon
