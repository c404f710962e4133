// `wattle top SERVER...`, with daemons of the built program.
#include <csignal>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

class TopServers : public DaemonTest {
 protected:
  [[nodiscard]] std::string at_file() const { return "unix:" + socket(); }
};

TEST_F(TopServers, ShowWhatIsLiveAndWhatCannotBeReached) {
  serve();
  const std::string nowhere = "unix:" + path("nowhere.sock").string();
  Process process(wattle({"top", "--json", "--period", "0.1", at_file(), nowhere}));
  ASSERT_TRUE(process.prints("\"power_w\":75.0"));
  ASSERT_TRUE(process.prints("\"is_live\":false"));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(outcome.err, "");
  std::string last = outcome.out;
  last.pop_back();
  const Json json = parse_json(last.substr(last.rfind('\n') + 1));
  EXPECT_EQ(json["schema"], "wattle.top_line/1");
  EXPECT_EQ(json["devices"][0]["machine"], socket());
  EXPECT_TRUE(json["total"]["power_w"].is_number());
  for (const Json& machine : json["machines"]) {
    EXPECT_EQ(machine["is_live"], machine["name"] == socket()) << machine.dump();
  }
}

TEST_F(TopServers, ThatAreAllGoneAreNoReasonToWait) {
  const std::string nowhere = "unix:" + path("nowhere.sock").string();
  const Outcome outcome = run(wattle({"top", "--json", nowhere}));
  constexpr int kNothing = 2;
  EXPECT_EQ(outcome.code(), kNothing);
  EXPECT_THAT(outcome.err, HasSubstr("wattle top: cannot reach"));
}

TEST_F(TopServers, AreRefusedWhereTheyAreNone) {
  const Outcome outcome = run(wattle({"top", "--json", "node1:port"}));
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("node1:port"));
}

}  // namespace
}  // namespace wattle::integration
