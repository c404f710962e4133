// libcurl as every request of the client uses it: handles that free themselves, and one place that
// says how a server is spoken to.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "wattle/daemon_client.hpp"

namespace wattle::client {

struct EasyCleanup {
  void operator()(CURL* easy) const noexcept { ::curl_easy_cleanup(easy); }
};
struct ListCleanup {
  void operator()(curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
};
/// A connection's worth of libcurl: one request at a time.
using Easy = std::unique_ptr<CURL, EasyCleanup>;
/// Lines of a request's head.
using Lines = std::unique_ptr<curl_slist, ListCleanup>;

/// Most that a server may send beside the body, for one answer: heads before it ("100 Continue"),
/// its own, trailers.
inline constexpr std::size_t kLongestHead = std::size_t{64} << 10U;
inline constexpr const char* kHeadTooLong = "the head of its answer is longer than 64 KiB";

/// Room for what libcurl says of a failure (`CURLOPT_ERRORBUFFER`).
using FailureText = std::array<char, CURL_ERROR_SIZE>;

/// A handle of nothing yet. libcurl is made ready with the first. Throws `ConnectionError`.
/// Threads: any.
[[nodiscard]] Easy make_easy();

/// True for a Unix socket and for names and addresses of the loopback.
[[nodiscard]] bool is_on_this_machine(const Server& server);

/// The lines that each request to `server` carries; may be empty. Logs a warning if they hold a
/// token that goes unencrypted to another machine. Throws `InvalidArgument` for a server without a
/// transport or an endpoint, and for a token that no head may hold (blanks, line ends, other than
/// ASCII): it would end the line and begin another. The message does not show the token.
[[nodiscard]] Lines lines_for(const Server& server);

/// Prepares `easy` to GET `target` ("/discover", with its query) from `server`: no proxy
/// unless the server is to be asked through one, no redirect, no other protocol than the server's,
/// no signal; the server's certificate is verified. `lines` must outlive the request. `timeout` is
/// for all of it, 0 for none (a stream); to connect has at most `connect_timeout`. The caller sets
/// what takes the answer, and may make it a POST. Throws `ConnectionError`.
void set_up(CURL* easy, const Server& server, std::string_view target, const curl_slist* lines,
            std::chrono::milliseconds timeout, std::chrono::milliseconds connect_timeout);

/// Why the request of `easy` to `server` came to nothing, safe to print, with a remedy where there
/// is one: libcurl's own words for it where no others are plainer.
[[nodiscard]] std::string failure_text(CURL* easy, CURLcode code, const FailureText& text,
                                       const Server& server);

/// Sets one option of a handle. Throws `ConnectionError` where libcurl does not take it.
template <class Value>
void set_option(CURL* easy, CURLoption option, Value value) {
  const CURLcode code = ::curl_easy_setopt(easy, option, value);  // NOLINT(*-vararg): C
  if (code != CURLE_OK) {
    throw ConnectionError(std::string("libcurl refuses an option: ") + ::curl_easy_strerror(code));
  }
}

}  // namespace wattle::client
