// The log, while strangers send whatever they like.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <regex>
#include <sstream>

#include "daemon.hpp"
#include "jwt.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

constexpr std::string_view kLogKey = "daemon-log-test-signing-key-of-forty-bytes";

class DaemonLog : public DaemonTest {
 protected:
  [[nodiscard]] std::vector<std::string> lines() const {
    std::istringstream text(log());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  /// Lines of single refusals. A line break makes two requests of some, of which the second answer
  /// is not read: that is told in one line for all.
  [[nodiscard]] std::size_t refusals() const {
    return static_cast<std::size_t>(std::ranges::count_if(lines(), [](const std::string& line) {
      return line.find(" warning ") != std::string::npos &&
             line.find("turned clients away") == std::string::npos;
    }));
  }
  void expect_clean() const {
    static const std::regex kLine(
        R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d (info|warning|error) [ -~]+)");
    for (const std::string& line : lines()) {
      EXPECT_TRUE(std::regex_match(line, kLine)) << testing::PrintToString(line);
    }
  }
};

/// Every byte there is.
std::vector<std::string> bytes() {
  std::vector<std::string> all;
  for (int byte = 0; byte < 256; ++byte) all.emplace_back(1, static_cast<char>(byte));
  return all;
}

/// Requests that have the text in each of their parts in turn.
std::vector<std::string> requests_with(const std::string& text) {
  const auto request = [](const std::string& line, const std::string& fields) {
    return line + "\r\n" + fields + "\r\n\r\n";
  };
  const std::string get = "GET /gpu/get_power HTTP/1.1";
  const std::string host = "Host: localhost";
  const std::string token = "\r\nAuthorization: Bearer ";
  return {
      request("G" + text + "T /gpu/get_power HTTP/1.1", host),
      request("GET /gpu/" + text + " HTTP/1.1", host),
      request("GET /gpu/get_power?gpu_ids=" + text + " HTTP/1.1", host),
      request("GET /gpu/get_power HTTP/1." + text, host),
      request(get, "Host: " + text),
      request(get, host + "\r\nOrigin: http://" + text),
      request(get, host + "\r\nUser-Agent: " + text),
      request(get, host + "\r\nX" + text + ": y"),
      request(get, host + "\r\nAuthorization: " + text),
      request(get, host + token + text),
      request(get, host + token + "a." + text + ".c"),
      request(get, host + token + jwt(kHs256, R"({"sub":")" + text + R"(","scopes":[]})", kLogKey)),
      request(get, host + token + jwt(kHs256, text, kLogKey))};
}

TEST_F(DaemonLog, HasOnePrintableLineForEachRefusalWhateverWasSent) {
  serve({"--signing-key-path", key_file(kLogKey), "--max-failures-per-client", "1000000"});
  const std::size_t before = refusals();
  std::size_t refused = 0;
  for (const std::string& byte : bytes()) {
    for (const std::string& request : requests_with(byte)) {
      HttpClient client = tcp_client();
      client.send(request);
      const HttpAnswer answer = client.read_answer();
      EXPECT_NE(answer.status, 0) << testing::PrintToString(request);
      EXPECT_NE(answer.status, 200) << testing::PrintToString(request);
      if (answer.status == 401 || answer.status == 403 || answer.status == 421) ++refused;
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_TRUE(eventually([&] { return refusals() - before >= refused; }));
  EXPECT_EQ(refusals() - before, refused);
  expect_clean();
}

TEST_F(DaemonLog, ShowsNamesOfTokensInAnswersOnly) {
  serve({"--signing-key-path", key_file(kLogKey)});
  const std::string name = "\\u001b[31m\\nred\\u0000\\u202e";
  const std::string token = jwt(kHs256, R"({"sub":")" + name + R"(","scopes":[]})", kLogKey);
  const HttpAnswer answer = get("/gpu/get_power", "Authorization: Bearer " + token + "\r\n");
  EXPECT_EQ(answer.status, 403);
  for (const char byte : answer.body) EXPECT_GE(static_cast<unsigned char>(byte), 0x20);
  EXPECT_EQ(log().find("red"), std::string::npos);
}

TEST_F(DaemonLog, EscapesWhatFilesOfTheMachineSay) {
  std::string name = "strange";
  for (const std::string& byte : bytes()) {
    if (byte != "\n") name += byte;
  }
  tree_.add_zone("intel-rapl:2", name);
  serve();
  EXPECT_TRUE(logs(HasSubstr("strange")));
  expect_clean();
}

TEST_F(DaemonLog, EscapesWhatItsOptionsSay) {
  const std::string path = "/nowhere/\x1b[31m\nred\x7f\xff";
  const Outcome outcome =
      run(wattled({"serve", "--socket-path", socket(), "--signing-key-path", path}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_TRUE(logs(HasSubstr("red")));
  EXPECT_THAT(lines(), testing::ElementsAre(testing::MatchesRegex("wattled: [ -~]+")));
}

/// A daemon whose stderr is a pipe of the test's.
class DaemonWithoutReader : public DaemonTest {
 protected:
  /// With a key, so that every request without a token is a line of the log.
  void start(const std::function<void()>& prepare) {
    Start start =
        wattled({"serve", "--socket-path", socket(), "--signing-key-path", key_file(kLogKey)});
    start.prepare = prepare;
    daemon_ = std::make_unique<Process>(start);
    ASSERT_TRUE(eventually([&] { return accepts(); }));
  }
  void end_in_time() {
    EXPECT_EQ(get("/time").status, 200);
    daemon_->send(SIGTERM);
    EXPECT_EQ(daemon_->wait().code(), 0);
  }
  void ask_without_a_token(int requests) const {
    for (int i = 0; i < requests; ++i) EXPECT_NE(get("/gpu/get_power").status, 0);
  }
};

TEST_F(DaemonWithoutReader, ServesWhereNobodyReadsItsLog) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  // Full before the first line. The daemon's end is one that blocks.
  const Fd filling(::open(("/proc/self/fd/" + std::to_string(ends[1])).c_str(),
                          O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  while (::write(filling.get(), "x", 1) == 1) {
  }
  start([&] { ::dup2(write_end.get(), STDERR_FILENO); });
  ask_without_a_token(100);
  end_in_time();
}

TEST_F(DaemonWithoutReader, ServesWhereTheReaderOfItsLogIsGone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  start([&] { ::dup2(write_end.get(), STDERR_FILENO); });
  read_end.reset();
  ask_without_a_token(10);
  end_in_time();
}

TEST_F(DaemonWithoutReader, GivesNoSocketTheNumberOfAStreamThatWasClosed) {
  for (const int closed : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    start([&] { ::close(closed); });
    const std::string place = "/proc/" + std::to_string(daemon_->pid()) + "/fd/";
    EXPECT_EQ(std::filesystem::read_symlink(place + std::to_string(closed)), "/dev/null");
    ask_without_a_token(10);
    end_in_time();
  }
}

}  // namespace
}  // namespace wattle::integration
