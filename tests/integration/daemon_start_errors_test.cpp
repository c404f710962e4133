// What a daemon says that does not start, word by word.
#include <fstream>
#include <regex>

#include "daemon.hpp"
#include "unit/report/golden.hpp"

namespace wattle::integration {
namespace {

class DaemonStartErrors : public DaemonTest {
 protected:
  /// Starts it with a socket of its own, which must not be left behind.
  void expect_said(const std::string& golden, const Words& options) const {
    std::ofstream(path("log")).close();
    const std::string at = path("refused.sock").string();
    const Outcome outcome =
        run(wattled(Words{"serve", "--mode", "uds,tcp", "--socket-path", at} + options));
    EXPECT_EQ(outcome.code(), 1);
    EXPECT_FALSE(std::filesystem::exists(at));
    std::string text = std::regex_replace(log(), std::regex(folder_.path().string()), "FOLDER");
    text = std::regex_replace(text, std::regex("(127.0.0.1|0.0.0.0):[0-9]+"), "$1:PORT");
    testing_support::expect_golden(golden, text);
  }
  [[nodiscard]] std::string key() const { return key_file(std::string(40, 'k')); }

  static constexpr const char* kEverywhere = "0.0.0.0:0";
};

using DaemonOptions = DaemonTest;

TEST_F(DaemonOptions, AskWhetherANearOneWasMeant) {
  const auto said = [&](const Words& words) {
    std::ofstream(path("log")).close();
    EXPECT_EQ(run(wattled(words)).code(), 64);
    return log();
  };
  EXPECT_EQ(said({"srve"}),
            "wattled: unknown command srve; did you mean serve? (see wattled --help)\n");
  EXPECT_EQ(said({"serve", "--max-connection", "4"}),
            "wattled: unknown option --max-connection; did you mean --max-connections? (see "
            "wattled serve --help)\n");
  EXPECT_EQ(said({}), "wattled: no command given: serve or token (see wattled --help)\n");
  EXPECT_EQ(said({"token"}), "wattled: no command given: issue (see wattled token --help)\n");
}

TEST_F(DaemonStartErrors, OfAPortThatIsInUse) {
  serve();
  // What the first one still writes goes there.
  std::filesystem::rename(path("log"), path("first.log"));
  expect_said("start_port_in_use.txt",
              {"--tcp-bind-address", "127.0.0.1:" + std::to_string(port_)});
}

TEST_F(DaemonStartErrors, OfAnAddressThatNeedsAKey) {
  expect_said("start_needs_key.txt", {"--tcp-bind-address", kEverywhere});
}

TEST_F(DaemonStartErrors, OfAnAddressThatNeedsEncryption) {
  expect_said("start_needs_encryption.txt",
              {"--tcp-bind-address", kEverywhere, "--signing-key-path", key()});
}

TEST_F(DaemonStartErrors, OfAGroupThatIsNotThere) {
  expect_said("start_no_group.txt",
              {"--tcp-bind-address", "127.0.0.1:0", "--socket-group", "no-such-group"});
}

TEST_F(DaemonStartErrors, OfControlForEveryUser) {
  expect_said("start_control_for_everybody.txt", {"--tcp-bind-address", "127.0.0.1:0", "--enable",
                                                  "gpu-control", "--socket-permissions", "666"});
}

TEST_F(DaemonStartErrors, OfControlInClear) {
  expect_said("start_control_in_clear.txt",
              {"--tcp-bind-address", kEverywhere, "--signing-key-path", key(), "--enable",
               "gpu-control", "--allow-plain-http"});
}

}  // namespace
}  // namespace wattle::integration
