// Invalid data of a server, and the log about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/followed.hpp"
#include "client/followed_server.hpp"
#include "power/heard_log.hpp"

namespace wattle::client_test {
namespace {
using Progress = FollowedServer::ServerProgress;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(AFollowedServer, HasWhatItSaysWrongRefusedWithOneLineInTheLog) {
  const power_test::HeardLog log;
  Followed followed;
  followed.start();
  for (int i = 0; i < 100; ++i) {
    followed.send("/gpu/", wire::event("5") + wire::event("{\"power_mw\":\"x\"}") +
                               wire::event(wire::encode_event(followed.daemon_ms(), 9, 1)));
  }
  EXPECT_THAT(log.messages(),
              ElementsAre(HasSubstr("GPU stream of node:1: an event is not a JSON object")));
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  followed.send_gpu(0, 5000);
  EXPECT_EQ(followed.readings().gpu_power.at(0).si(), 5.0);
  followed.advance(61s);
  followed.send("/gpu/", wire::event("5"));
  EXPECT_THAT(log.messages(), SizeIs(2));
  EXPECT_THAT(log.messages().back(), HasSubstr("(and 299 before)"));
}

TEST(AFollowedServer, ThatCannotBeReachedIsReportedOnceForEachOutage) {
  const power_test::HeardLog log;
  Followed followed;
  for (const std::size_t outages : {1U, 2U}) {
    followed.answers["/discover"] = {{.status = 500}};
    if (outages == 1) {
      followed.start();
    } else {
      followed.hang_up("/gpu/");
      followed.hang_up("/cpu/");
    }
    followed.advance(60s);
    EXPECT_THAT(log.messages(), SizeIs(outages));
    EXPECT_THAT(log.messages().back(), HasSubstr("cannot reach node:1: /discover: "));
    followed.answers.clear();
    followed.advance(10s);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  }
}

TEST(AFollowedServer, ThatSendsWithoutALineEndIsReportedOnce) {
  const power_test::HeardLog log;
  Followed followed;
  followed.start();
  for (int i = 0; i < 40; ++i) followed.send("/gpu/", "data: " + std::string(100'000, 'x'));
  EXPECT_THAT(log.messages(), ElementsAre(HasSubstr("is longer than 1 MiB")));
  followed.send("/gpu/", "\n\n");
  followed.send_gpu(0, 5000);
  EXPECT_EQ(followed.readings().gpu_power.at(0).si(), 5.0);
}

TEST(AFollowedServer, ThatFloodsWithEventsIsLost) {
  Followed followed;
  followed.start();
  const std::string event = wire::event(wire::encode_event(followed.daemon_ms(), 0, 5000));
  std::string thousand;
  for (int i = 0; i < 1000; ++i) thousand += event;
  const auto admitted = static_cast<int>(client::FollowedStream::kEventBurst / 1000);
  for (int i = 0; i < admitted; ++i)
    EXPECT_TRUE(followed.transport.takes("/gpu/stream_power", thousand));
  EXPECT_FALSE(followed.transport.takes("/gpu/stream_power", thousand));
  followed.hang_up("/gpu/", "Failed writing received data");
  EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
  EXPECT_THAT(followed.readings().gpu.reason, HasSubstr("far more than a daemon"));
}

TEST(AFollowedServer, ThatSendsAsFastAsADaemonCanIsFollowed) {
  Followed followed;
  followed.start();
  constexpr int kSeconds = 100;
  constexpr int kEventsPerSecond = 2000;
  for (int second = 0; second < kSeconds; ++second) {
    const std::string event = wire::event(wire::encode_event(followed.daemon_ms(), 0, 5000));
    for (int i = 0; i < kEventsPerSecond; ++i) {
      ASSERT_TRUE(followed.transport.takes("/gpu/stream_power", event)) << second;
    }
    followed.advance(1s);
  }
}

TEST(AFollowedServer, IsGoneAfterTheEnd) {
  Followed followed;
  followed.discovery.cpus.clear();
  followed.start();
  followed.server.end();
  EXPECT_EQ(followed.gpu(), ConnectionStatus::gone);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::off);
}

}  // namespace
}  // namespace wattle::client_test
