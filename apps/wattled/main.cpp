// The daemon `wattled`.
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <variant>

#include "auth/signing_key.hpp"
#include "auth/token.hpp"
#include "base/files/fd.hpp"
#include "serve/log.hpp"
#include "serve/options.hpp"
#include "serve/serve.hpp"

namespace wattle::daemon {
namespace {

int print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? 0 : kFailed;
}

int issue_token(const TokenOptions& options) {
  using std::chrono::system_clock;
  Claims claims{.subject = options.user, .scopes = options.scopes, .audience = options.audience};
  if (options.lifetime_s) {
    claims.expires_unix_s = system_clock::to_time_t(system_clock::now()) + *options.lifetime_s;
  }
  const std::string token = issue(claims, read_signing_key(options.key_path));
  if (claims.scopes.empty()) {
    end_log("wattled: warning: the token permits nothing: give --scope\n");
  }
  return print(token + "\n");
}

int dispatch(const Options& options) {
  if (const auto* const chosen = std::get_if<ServeOptions>(&options)) return serve(*chosen);
  if (const auto* const chosen = std::get_if<TokenOptions>(&options)) return issue_token(*chosen);
  const auto& answer = std::get<TextAnswer>(options);
  if (!answer.is_error) return print(answer.text);
  end_log(answer.text);
  return answer.exit_status;
}

/// By default SIGHUP ends a process. From here on it stays pending until the daemon waits for it.
/// Uses the system call directly: no library and no sanitizer has started yet.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void hold_hangup(int, char**, char**) {
  const std::uint64_t hangup = std::uint64_t{1} << (SIGHUP - 1);
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &hangup, nullptr, sizeof hangup);
}

/// The loader calls it before the constructors of libraries, which take a part of the time until
/// `main`. A signal that arrives while libraries are mapped still ends the program.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): it is a constant
[[gnu::section(".preinit_array"), gnu::used]] void (*const kHoldHangup)(int, char**,
                                                                        char**) = hold_hangup;

}  // namespace
}  // namespace wattle::daemon

int main(int argc, char** argv) {
  using namespace wattle::daemon;  // NOLINT(google-build-using-namespace): the program's own
  (void)wattle::open_closed_standard_descriptors();
  try {
    const int status = dispatch(parse_options(argc, argv));
    end_log();
    return status;
  } catch (const std::exception& error) {
    end_log(fmt::format("wattled: {}\n", error.what()));
    return kFailed;
  }
}
