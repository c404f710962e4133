// Certificates for servers that tests start.
#pragma once

#include <string>

namespace wattle::integration {

/// Writes a new key, and a certificate that it signed itself for a day. `names`: whose it is, as
/// OpenSSL writes it: "IP:127.0.0.1", "DNS:localhost".
void write_certificate(const std::string& certificate_path, const std::string& key_path,
                       const std::string& names);

}  // namespace wattle::integration
