#include "client/transport/curl_request.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "base/files/fd.hpp"
#include "base/group_name.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/unix_address.hpp"
#include "client/connection_words.hpp"

namespace wattle::client {
namespace {

constexpr const char* kStart =
    "start the daemon: sudo systemctl enable --now wattled.socket, or sudo wattled serve";

/// 0, or the `errno` of connecting.
int connect_error(const std::string& path) noexcept {
  const auto address = UnixAddress::of(path);
  if (!address) return ENAMETOOLONG;
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  return ::connect(fd.get(), address->get(), address->size()) == 0 ? 0 : errno;
}

std::string remedy_for_denied(const struct stat& status) {
  // Never recommends joining root's group.
  if (status.st_gid == 0) {
    return "the socket is root's alone; restart the daemon with --socket-group GROUP";
  }
  return "join its group: sudo usermod -aG " + group_name(status.st_gid) +
         " \"$USER\", and log in again";
}

/// The smallest buffer of libcurl: answers are short, and there may be a thousand streams.
constexpr long kBufferBytes = 1024;

/// Never cleaned up: the program may use libcurl itself.
CURLcode initialize_libcurl() {
  static const CURLcode code = [] {
    // libcurl appends to the file that this variable names, even with privileges that the user
    // lacks.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody may change the environment now
    if (::getauxval(AT_SECURE) != 0) ::unsetenv("SSLKEYLOGFILE");
    return ::curl_global_init(CURL_GLOBAL_DEFAULT);
  }();
  return code;
}

std::string url_of(const Server& server, std::string_view target) {
  const bool is_socket = server.transport == Server::Transport::unix_socket;
  std::string url = server.transport == Server::Transport::https ? "https://" : "http://";
  url += is_socket ? "localhost" : server.endpoint;
  return url += target;
}

void set_tls(CURL* easy, const Server& server) {
  set_option(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set_option(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set_option(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!server.ca_file.empty()) set_option(easy, CURLOPT_CAINFO, server.ca_file.c_str());
}

bool has_answer(CURL* easy) noexcept {
  long status = 0;
  ::curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);  // NOLINT(*-vararg): C
  return status != 0;
}

/// True if TCP is connected, but the TLS handshake is not complete.
bool shakes_hands(CURL* easy, const Server& server) noexcept {
  if (server.transport != Server::Transport::https) return false;
  const char* address = nullptr;  // known once connected
  curl_off_t ready = 0;
  ::curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address);        // NOLINT(*-vararg): C
  ::curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &ready);  // NOLINT(*-vararg): C
  return address != nullptr && *address != '\0' && ready == 0;
}

/// `said`: OpenSSL's message.
std::string handshake_failure(CURLcode code, std::string_view said, const Server& server) {
  const std::string as_plain =
      "; if the daemon does not use TLS, write http://" + printable(server.endpoint);
  if (code == CURLE_OPERATION_TIMEDOUT) return "no answer to the TLS handshake" + as_plain;
  const bool is_other = said.find("wrong version number") != std::string_view::npos ||
                        said.find("packet length too long") != std::string_view::npos;
  return is_other ? "the answer is not TLS" + as_plain : printable(said);
}

/// `said`: OpenSSL's message. There is no remedy for a wrong name or an expired certificate.
std::string certificate_remedy(std::string_view said, const Server& server) {
  const bool is_unknown = said.find("self-signed") != std::string_view::npos ||
                          said.find("self signed") != std::string_view::npos ||
                          said.find("issuer") != std::string_view::npos;
  if (!is_unknown) return "";
  if (!server.ca_file.empty()) return "; it is not signed by one in " + printable(server.ca_file);
  return "; to trust it, name its file (--ca-file, Server::ca_file)";
}

/// A process with privileges that its user lacks ignores the user's proxy variables.
bool takes_proxy(const Server& server) noexcept {
  return server.uses_proxy && server.transport != Server::Transport::unix_socket &&
         ::getauxval(AT_SECURE) == 0;
}

}  // namespace

std::string socket_failure(const std::string& path) {
  const int error = connect_error(path);
  if (error == 0 || error == EAGAIN) return {};
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  const std::string what = printable(path) + ": ";
  if (is_there && !S_ISSOCK(status.st_mode)) {
    return what + "not a socket; give the path of the daemon's socket";
  }
  const std::string reason = what + std::generic_category().message(error) + "; ";
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return reason + kStart;
    case EACCES:
      return reason +
             (is_there ? remedy_for_denied(status) : "a folder above it is closed to this user");
    default:
      return reason + "see what the daemon does: systemctl status wattled";
  }
}

Easy make_easy() {
  if (const CURLcode code = initialize_libcurl(); code != CURLE_OK) {
    throw ConnectionError(std::string("libcurl does not start: ") + ::curl_easy_strerror(code));
  }
  Easy easy(::curl_easy_init());
  if (!easy) throw ConnectionError("out of memory");
  return easy;
}

bool is_on_this_machine(const Server& server) {
  if (server.transport == Server::Transport::unix_socket) return true;
  const std::string_view endpoint = server.endpoint;
  const std::string_view host = endpoint.substr(0, endpoint.rfind(':'));
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  constexpr std::uint32_t kLoopbackNetwork = 127;
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
         ntohl(address.s_addr) >> 24U == kLoopbackNetwork;
}

Lines lines_for(const Server& server) {
  if (server.transport == Server::Transport::none || server.endpoint.empty()) {
    throw InvalidArgument(
        "a server without a transport or an endpoint cannot be asked: make it with Server::tcp, "
        "Server::tls, Server::unix_socket or Server::parse");
  }
  if (server.token.empty()) return {};
  const bool leaves = server.uses_proxy || !is_on_this_machine(server);
  if (server.transport == Server::Transport::http && leaves) {
    log("the token for " + printable(server.endpoint) +
        " is sent unencrypted over the network; use https://" + printable(server.endpoint));
  }
  check_token(server.token, server.endpoint);
  Lines lines(::curl_slist_append(nullptr, ("Authorization: Bearer " + server.token).c_str()));
  if (!lines) throw ConnectionError("out of memory");
  return lines;
}

void set_up(CURL* easy, const Server& server, std::string_view target, const curl_slist* lines,
            std::chrono::milliseconds timeout, std::chrono::milliseconds connect_timeout) {
  const bool is_tls = server.transport == Server::Transport::https;
  set_option(easy, CURLOPT_PROTOCOLS_STR, is_tls ? "https" : "http");
  set_option(easy, CURLOPT_URL, url_of(server, target).c_str());
  if (server.transport == Server::Transport::unix_socket) {
    set_option(easy, CURLOPT_UNIX_SOCKET_PATH, server.endpoint.c_str());
  }
  if (is_tls) set_tls(easy, server);
  set_option(easy, CURLOPT_HTTPHEADER, lines);
  set_option(easy, CURLOPT_USERAGENT, "wattle");
  set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  // An empty text means no proxy. Without the option, libcurl reads the environment.
  if (!takes_proxy(server)) set_option(easy, CURLOPT_PROXY, "");
  set_option(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_BUFFERSIZE, kBufferBytes);
  set_option(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  set_option(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout.count()));
}

std::string failure_text(CURL* easy, CURLcode code, const FailureText& text, const Server& server) {
  const std::string_view said = text[0] == '\0' ? ::curl_easy_strerror(code) : text.data();
  const std::string as_tls =
      "; if the daemon uses TLS, write https://" + printable(server.endpoint);
  const bool is_plain = server.transport == Server::Transport::http;
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      if (server.transport == Server::Transport::unix_socket) {
        if (std::string failure = socket_failure(server.endpoint); !failure.empty()) return failure;
      }
      break;
    case CURLE_PARTIAL_FILE:
      return "the daemon closed the connection";
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
      if (has_answer(easy)) break;
      return "the daemon closed the connection without an answer" + (is_plain ? as_tls : "");
    case CURLE_UNSUPPORTED_PROTOCOL:
      if (is_plain) return "the answer is not HTTP" + as_tls;
      break;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_OPERATION_TIMEDOUT:
      if (shakes_hands(easy, server)) return handshake_failure(code, said, server);
      break;
    case CURLE_PEER_FAILED_VERIFICATION:
      return printable(said) + certificate_remedy(said, server);
    default:
      break;
  }
  return printable(said);
}

}  // namespace wattle::client
