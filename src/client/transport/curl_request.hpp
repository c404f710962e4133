// libcurl for all requests of the client: owning handles, the options of a request, and why one
// failed.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "wattle/daemon_client.hpp"

namespace wattle::client {

/// "/run/wattled/wattled.sock: Permission denied; ...": the path, the reason, the remedy. Connects
/// again to find out. Empty: the connection now succeeds. Threads: any.
[[nodiscard]] std::string socket_failure(const std::string& path);

struct EasyCleanup {
  void operator()(CURL* easy) const noexcept { ::curl_easy_cleanup(easy); }
};
struct ListCleanup {
  void operator()(curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
};
/// A libcurl handle: one request at a time.
using Easy = std::unique_ptr<CURL, EasyCleanup>;
/// The header lines of a request.
using Lines = std::unique_ptr<curl_slist, ListCleanup>;

/// The buffer for libcurl's error message (`CURLOPT_ERRORBUFFER`).
using FailureText = std::array<char, CURL_ERROR_SIZE>;

/// A new handle. The first call initializes libcurl. Throws `ConnectionError`. Threads: any.
[[nodiscard]] Easy make_easy();

/// True for a Unix socket and for names and addresses of the loopback.
[[nodiscard]] bool is_on_this_machine(const Server& server);

/// The header lines of every request to `server`; may be empty. Logs a warning if a token goes
/// unencrypted to another machine. Throws `InvalidArgument` for a server without a transport or an
/// endpoint, and for a token with blanks, line ends or non-ASCII characters, which could start
/// another header line. The message does not show the token.
[[nodiscard]] Lines lines_for(const Server& server);

/// Prepares `easy` to GET `target` ("/discover", with its query) from `server`: no proxy unless the
/// server names one, no redirect, only the server's protocol, no signals; verifies the server's
/// certificate. `lines` must outlive the request. `timeout`: of the whole request; 0: none (a
/// stream). The caller sets the handlers of the answer, and may make it a POST. Throws
/// `ConnectionError`.
void set_up(CURL* easy, const Server& server, std::string_view target, const curl_slist* lines,
            std::chrono::milliseconds timeout, std::chrono::milliseconds connect_timeout);

/// Why the request of `easy` to `server` failed, safe to print, with a remedy if there is one. Uses
/// libcurl's text if there is no plainer one.
[[nodiscard]] std::string failure_text(CURL* easy, CURLcode code, const FailureText& text,
                                       const Server& server);

/// Sets one option of a handle. Throws `ConnectionError` if libcurl refuses it.
template <class Value>
void set_option(CURL* easy, CURLoption option, Value value) {
  const CURLcode code = ::curl_easy_setopt(easy, option, value);  // NOLINT(*-vararg): C
  if (code != CURLE_OK) {
    throw ConnectionError(std::string("libcurl refuses an option: ") + ::curl_easy_strerror(code));
  }
}

}  // namespace wattle::client
