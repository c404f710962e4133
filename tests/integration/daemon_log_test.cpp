// The log, while strangers send whatever they like.
#include <regex>
#include <sstream>

#include "daemon.hpp"
#include "jwt.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

constexpr std::string_view kKey = "daemon-log-test-signing-key-of-forty-bytes";

class DaemonLog : public DaemonTest {
 protected:
  [[nodiscard]] std::vector<std::string> lines() const {
    std::istringstream text(log());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
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
      request(get, host + token + jwt(kHs256, R"({"sub":")" + text + R"(","scopes":[]})", kKey)),
      request(get, host + token + jwt(kHs256, text, kKey))};
}

TEST_F(DaemonLog, HasOnePrintableLineForEachRefusalWhateverWasSent) {
  serve({"--signing-key-path", key_file(kKey)});
  const std::size_t before = lines().size();
  std::size_t refused = 0;
  std::uint16_t peer = 1;
  for (const std::string& byte : bytes()) {
    for (const std::string& request : requests_with(byte)) {
      // Each time another peer: a refusal past the twentieth is not logged.
      HttpClient client = tcp_client(peer++);
      client.send(request);
      const HttpAnswer answer = client.read_answer();
      EXPECT_NE(answer.status, 0) << testing::PrintToString(request);
      EXPECT_NE(answer.status, 200) << testing::PrintToString(request);
      if (answer.status == 401) ++refused;
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_EQ(lines().size() - before, refused);
  expect_clean();
}

TEST_F(DaemonLog, ShowsNamesOfTokensInAnswersOnly) {
  serve({"--signing-key-path", key_file(kKey)});
  const std::string name = "\\u001b[31m\\nred\\u0000\\u202e";
  const std::string token = jwt(kHs256, R"({"sub":")" + name + R"(","scopes":[]})", kKey);
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
  EXPECT_THAT(log(), HasSubstr("strange"));
  expect_clean();
}

TEST_F(DaemonLog, EscapesWhatItsOptionsSay) {
  const std::string path = "/nowhere/\x1b[31m\nred\x7f\xff";
  const Outcome outcome =
      run(wattled({"serve", "--socket-path", socket(), "--signing-key-path", path}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(log(), HasSubstr("red"));
  EXPECT_THAT(lines(), testing::ElementsAre(testing::MatchesRegex("wattled: [ -~]+")));
}

}  // namespace
}  // namespace wattle::integration
