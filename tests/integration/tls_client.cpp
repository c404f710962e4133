#include "tls_client.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "process.hpp"

namespace wattle::integration {

TlsClient::TlsClient(std::uint16_t port, const TlsChoice& choice)
    : context_(SSL_CTX_new(TLS_client_method())) {
  if (choice.version != 0) {
    SSL_CTX_set_min_proto_version(context_.get(), choice.version);
    SSL_CTX_set_max_proto_version(context_.get(), choice.version);
  }
  if (!choice.ciphers.empty()) {
    EXPECT_EQ(SSL_CTX_set_cipher_list(context_.get(), choice.ciphers.c_str()), 1);
  }
  if (!choice.certificate.empty()) {
    EXPECT_EQ(SSL_CTX_use_certificate_chain_file(context_.get(), choice.certificate.c_str()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_.get(), choice.key.c_str(), SSL_FILETYPE_PEM), 1);
  }
  ssl_.reset(SSL_new(context_.get()));
  SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(ssl_.get());
  fd_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(
      ::connect(fd_.get(), static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof address), 0)
      << std::strerror(errno);
}

std::string TlsClient::taken_out() {
  std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl_.get())), '\0');
  if (!bytes.empty()) {
    BIO_read(SSL_get_wbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
  }
  return bytes;
}

void TlsClient::send_raw(std::string_view bytes) const {
  // The daemon may have closed already: what it said before counts.
  (void)::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

bool TlsClient::receive() {
  pollfd wait{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  const auto timeout = std::chrono::milliseconds(kDeadline).count();
  if (::poll(&wait, 1, static_cast<int>(timeout)) <= 0) {
    ADD_FAILURE() << "the daemon said nothing; so far: " << in_;
    return false;
  }
  std::array<char, 65536> room{};
  const ssize_t count = ::recv(fd_.get(), room.data(), room.size(), 0);
  if (count <= 0) return false;
  BIO_write(SSL_get_rbio(ssl_.get()), room.data(), static_cast<int>(count));
  return true;
}

void TlsClient::open_records() {
  std::array<char, 65536> room{};
  std::size_t count = 0;
  while (SSL_read_ex(ssl_.get(), room.data(), room.size(), &count) == 1) {
    in_.append(room.data(), count);
  }
}

bool TlsClient::shake_hands() {
  while (SSL_do_handshake(ssl_.get()) != 1) {
    if (SSL_get_error(ssl_.get(), -1) != SSL_ERROR_WANT_READ) return false;
    send_raw(taken_out());
    if (!receive()) return false;
  }
  send_raw(taken_out());
  return true;
}

std::string TlsClient::first_bytes() {
  (void)SSL_do_handshake(ssl_.get());
  return taken_out();
}

std::string TlsClient::sealed(std::string_view bytes) {
  std::size_t count = 0;
  EXPECT_EQ(SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count), 1);
  EXPECT_EQ(count, bytes.size());
  return taken_out();
}

std::string TlsClient::read_until(std::string_view end) {
  open_records();
  std::size_t found = 0;
  while ((found = in_.find(end)) == std::string::npos) {
    if (!receive()) return std::exchange(in_, {});
    open_records();
  }
  const std::string taken = in_.substr(0, found + end.size());
  in_.erase(0, taken.size());
  return taken;
}

std::string TlsClient::read_to_end() {
  while (receive()) open_records();
  return std::exchange(in_, {});
}

std::string TlsClient::read_answer() {
  std::string head = read_until("\r\n\r\n");
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t place = head.find(kLength);
  if (place == std::string::npos) return head;
  std::size_t length = 0;
  const char* const digits = head.data() + place + kLength.size();
  std::from_chars(digits, head.data() + head.size(), length);
  while (in_.size() < length && receive()) open_records();
  head += in_.substr(0, length);
  in_.erase(0, length);
  return head;
}

void TlsClient::finish_sending() const { ::shutdown(fd_.get(), SHUT_WR); }

}  // namespace wattle::integration
