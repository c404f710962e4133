#include "daemon.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/unix_address.hpp"

namespace wattle::integration {
namespace {

void connect_to(const Fd& fd, const sockaddr* address, std::size_t size) {
  if (::connect(fd.get(), address, static_cast<socklen_t>(size)) == 0) return;
  ADD_FAILURE() << std::strerror(errno);
}

std::size_t number_in(std::string_view text, int base) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

}  // namespace

HttpClient HttpClient::at_file(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const UnixAddress address = UnixAddress::of(path).value();
  connect_to(fd, address.get(), address.size());
  return HttpClient(std::move(fd));
}

HttpClient HttpClient::at_port(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  connect_to(fd, static_cast<const sockaddr*>(static_cast<const void*>(&address)), sizeof address);
  return HttpClient(std::move(fd));
}

void HttpClient::send(std::string_view bytes) const {
  // The daemon may have closed already: what it said before counts.
  (void)::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void HttpClient::finish_sending() const { ::shutdown(fd_.get(), SHUT_WR); }

bool HttpClient::receive() {
  pollfd wait{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  const auto timeout = std::chrono::milliseconds(kDeadline).count();
  if (::poll(&wait, 1, static_cast<int>(timeout)) <= 0) {
    ADD_FAILURE() << "the daemon said nothing; so far: " << in_;
    return false;
  }
  std::array<char, 65536> room{};
  const ssize_t count = ::recv(fd_.get(), room.data(), room.size(), 0);
  if (count <= 0) return false;
  in_.append(room.data(), static_cast<std::size_t>(count));
  return true;
}

std::string HttpClient::take(std::size_t bytes) {
  while (in_.size() < bytes && receive()) {
  }
  std::string taken = in_.substr(0, bytes);
  in_.erase(0, bytes);
  return taken;
}

std::string HttpClient::read_head() {
  std::size_t end = 0;
  while ((end = in_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive()) return {};
  }
  return take(end + 4);
}

HttpAnswer HttpClient::read_answer(bool has_body) {
  HttpAnswer answer{.head = read_head(), .body = {}};
  if (answer.head.size() < 12) return answer;
  answer.status = static_cast<int>(number_in(std::string_view(answer.head).substr(9, 3), 10));
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t length = answer.head.find(kLength);
  if (has_body && length != std::string::npos) {
    const auto rest = std::string_view(answer.head).substr(length + kLength.size());
    answer.body = take(number_in(rest, 10));
  }
  return answer;
}

HttpAnswer HttpClient::get(std::string_view target, std::string_view headers) {
  return ask("GET", target, headers);
}

HttpAnswer HttpClient::ask(std::string_view method, std::string_view target,
                           std::string_view headers) {
  std::string request(method);
  request.append(" ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
  request.append("Accept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n");
  request.append(headers).append("\r\n");
  send(request);
  return read_answer(method != "HEAD");
}

std::string HttpClient::next_chunk() {
  std::size_t end = 0;
  while ((end = in_.find("\r\n")) == std::string::npos) {
    if (!receive()) return {};
  }
  const std::size_t size = number_in(std::string_view(in_).substr(0, end), 16);
  (void)take(end + 2);
  std::string chunk = take(size);
  EXPECT_EQ(take(2), "\r\n");
  return chunk;
}

std::string HttpClient::next_event() {
  while (true) {
    std::string chunk = next_chunk();
    if (chunk.empty() || chunk.front() != ':') return chunk;
  }
}

std::string HttpClient::read_to_end() {
  while (receive()) {
  }
  return std::exchange(in_, {});
}

bool HttpClient::has_ended() {
  std::array<char, 65536> room{};
  while (true) {
    const ssize_t count = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (count > 0) continue;
    return count == 0 || errno != EAGAIN;
  }
}

DaemonTest::DaemonTest() : socket_(path("wattled.sock").string()) {
  tree_.add_zone("intel-rapl:0", "package-0", fakes::kPackageUnit, 100'000);
  tree_.add_zone("intel-rapl:0:0", "dram", fakes::kPackageUnit, 50'000);
  tree_.add_zone("intel-rapl:1", "package-1", fakes::kPackageUnit, 200'000);
}

Start DaemonTest::wattled(const Words& words) const {
  Start start{.command = Words{WATTLE_TEST_DAEMON} + words};
  start.environment = {{"WATTLE_SYSFS", tree_.system().sysfs.string()},
                       {"WATTLE_PROCFS", tree_.system().procfs.string()},
                       {"WATTLE_NVML_LIBRARY", path("nothing.so").string()}};
  if (nvml_) {
    start.environment["WATTLE_NVML_LIBRARY"] = nvml_->library_path();
    start.environment["WATTLE_FAKE_NVML"] = nvml_->script_path();
  }
  const std::string log_path = path("log").string();
  start.prepare = [log_path] {
    const int file = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(file, STDERR_FILENO);
  };
  return start;
}

void DaemonTest::serve(const Words& options, const std::string& nvml_script) {
  daemon_.reset();
  if (!nvml_script.empty()) nvml_ = std::make_unique<fakes::FakeNvml>(nvml_script);
  std::ofstream(path("log")).close();
  daemon_ = std::make_unique<Process>(wattled(Words{"serve", "--mode", "uds,tcp", "--socket-path",
                                                    socket_, "--tcp-bind-address", "127.0.0.1:0"} +
                                              options));
  constexpr std::string_view kPort = "127.0.0.1:";
  ASSERT_TRUE(logs(testing::HasSubstr(std::string(kPort))));
  const std::string said = log();
  port_ = static_cast<std::uint16_t>(
      number_in(std::string_view(said).substr(said.rfind(kPort) + kPort.size()), 10));
}

testing::AssertionResult DaemonTest::logs(const testing::Matcher<std::string>& said) const {
  if (eventually([&] { return said.Matches(log()); })) return testing::AssertionSuccess();
  std::ostringstream expected;
  expected << said;
  return testing::AssertionFailure() << "the log never " << expected.str() << ", it is: " << log();
}

bool DaemonTest::accepts() const {
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const UnixAddress address = UnixAddress::of(socket_).value();
  return ::connect(fd.get(), address.get(), address.size()) == 0;
}

void DaemonTest::play(double watts, const Words& zones) {
  Words words = {player_program(), "3600000"};
  for (const std::string& zone : zones) {
    words = words + Words{tree_.zone_path(zone).string(), std::to_string(watts), "0.00006103515625",
                          std::to_string(fakes::kPackageUnit.nanojoules), "1000000"};
  }
  const std::string counter = (tree_.zone_path(zones.back()) / "energy_uj").string();
  const std::string before = content_of(counter);
  player_ = std::make_unique<Process>(Start{.command = words});
  ASSERT_TRUE(eventually([&] { return content_of(counter) != before; }));
}

std::string DaemonTest::key_file(std::string_view key) const {
  const std::string file = path("key").string();
  std::ofstream(file, std::ios::binary) << key;
  ::chmod(file.c_str(), 0600);
  return file;
}

std::string DaemonTest::token(std::string_view user, std::string_view scopes,
                              std::string_view expires) const {
  const Outcome outcome = run(wattled({"token", "issue", "--signing-key-path", path("key").string(),
                                       "--user", std::string(user), "--scope", std::string(scopes),
                                       "--expires", std::string(expires)}));
  EXPECT_EQ(outcome.code(), 0);
  return outcome.out.substr(0, outcome.out.find('\n'));
}

}  // namespace wattle::integration
