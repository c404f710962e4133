#include "client/followed_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/followed.hpp"
#include "power/heard_log.hpp"

namespace wattle::client_test {
namespace {

using Progress = FollowedServer::ServerProgress;
using testing::HasSubstr;
using testing::SizeIs;

// Weakness 3: the original's thread dies there.
TEST(AFollowedServer, HasPowersWithTheDigitsThatWereSent) {
  Followed followed;
  followed.start();
  followed.send_gpu(0, 9'979);
  EXPECT_EQ(followed.readings().gpu_power.at(0), Watts(9.979));
}

TEST(AFollowedServer, HasTheStreamDeniedThatIsForbiddenAndThatAlone) {
  for (const int status : {401, 403, 404}) {
    const power_test::HeardLog log;
    Followed followed;
    followed.answers["/gpu/stream_power"] = {
        {.status = status, .body = wire::encode_error("no scope")}};
    followed.start();
    EXPECT_EQ(followed.gpu(), ConnectionStatus::denied);
    EXPECT_THAT(followed.readings().gpu.reason, HasSubstr("no scope"));
    followed.advance(60s);
    EXPECT_EQ(followed.times_asked("/gpu/stream_power"), 13U) << "each 5 s";
    EXPECT_EQ(followed.times_asked("/cpu/stream_power"), 1U);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::denied);
    EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
    EXPECT_THAT(log.messages(), SizeIs(1)) << "once";
  }
}

TEST(AFollowedServer, ReportsWhatItsDevicesAre) {
  Followed followed;
  followed.discovery.cpus = {{.id = 0, .domain = "psys"}, {.id = 1}};
  followed.discovery.gpus = {{.id = 0, .domain = "nvidia_gpu_0"}, {.id = 1}};
  followed.start();
  EXPECT_EQ(followed.readings().gpu_domain,
            (std::map<std::uint32_t, std::string>{{0, "nvidia_gpu_0"}}));
  EXPECT_EQ(followed.readings().cpu_domain, (std::map<std::uint32_t, std::string>{{0, "psys"}}));
}

TEST(AFollowedServer, IsStreamedFromWhatARestartEnabled) {
  const power_test::HeardLog log;
  Followed followed;
  followed.discovery.enabled_api_groups = {};
  followed.start();
  EXPECT_EQ(followed.gpu(), ConnectionStatus::denied);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::denied);
  followed.transport.is_reachable = false;
  followed.advance(20s);
  followed.transport.is_reachable = true;
  followed.discovery.enabled_api_groups = {"gpu-read"};
  followed.advance(2s);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::denied);
}

TEST(AFollowedServer, ThatNoLongerTakesTheTokenAfterARestartIsFollowedOnceItDoes) {
  const power_test::HeardLog log;
  Followed followed({.endpoint = "node:1", .token = "a.b.c"});
  followed.discovery.auth_required = true;
  followed.answers["/auth/whoami"] = {{.body = R"({"sub":"a","scopes":["gpu-read","cpu-read"]})"}};
  followed.start();
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  // It has another key by then.
  followed.answers["/auth/whoami"] = {{.status = 401, .body = R"({"error":"Invalid token."})"}};
  followed.hang_up("/gpu/", "gone");
  followed.hang_up("/cpu/", "gone");
  followed.advance(10s);
  for (const ConnectionState& state : {followed.readings().gpu, followed.readings().cpu}) {
    EXPECT_EQ(state.status, ConnectionStatus::denied);
    EXPECT_THAT(state.reason, HasSubstr("the token is not accepted"));
  }
  followed.answers["/auth/whoami"] = {{.body = R"({"sub":"a","scopes":["gpu-read"]})"}};
  followed.advance(7s);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::denied) << "its scope is gone";
}

TEST(AFollowedServer, IsBackWithAllItsStreamsSoonAfterAnOutageOfAnyLength) {
  for (const auto outage : {1s, 15s, 33s, 3600s}) {
    Followed followed;
    followed.chance = 0.999;
    followed.start();
    followed.advance(20s);
    followed.transport.is_reachable = false;
    followed.settle();
    followed.advance(outage);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
    followed.transport.is_reachable = true;
    followed.advance(2s);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::live) << outage.count();
    EXPECT_EQ(followed.cpu(), ConnectionStatus::live) << outage.count();
  }
}

TEST(AFollowedServer, ThatAnswersOneStreamHasTheOtherOneAskedForToo) {
  Followed followed;
  followed.answers["/gpu/stream_power"] = {{.status = 500, .body = "no"}};
  followed.start();
  followed.advance(20s);  // the GPU stream waits for 5 s each time
  followed.advance(1s);
  followed.answers.clear();
  followed.hang_up("/cpu/");
  followed.advance(1100ms);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
}

// Weakness 4: it tries again each second, for ever.
TEST(AFollowedServer, IsTriedLessAndLessOftenWhereItAnswersAnError) {
  for (const int status : {400, 500}) {
    Followed followed;
    followed.answers["/gpu/stream_power"] = {{.status = status, .body = "no"}};
    followed.start();
    EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
    followed.advance(120s);
    // After 1, 3, 7, 12, 17 ... s.
    EXPECT_NEAR(static_cast<double>(followed.times_asked("/gpu/stream_power")), 26.0, 1.0);
    EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
  }
}

// Weakness 2: the original is back without any delay.
TEST(AFollowedServer, IsGivenTimeWhereItEndsStreamsAtOnce) {
  Followed followed;
  followed.discovery.cpus.clear();
  followed.start();
  for (const auto delay : {1s, 2s, 4s, 5s, 5s, 5s}) {
    followed.hang_up("/gpu/");
    EXPECT_EQ(followed.readings().gpu.reason, "the daemon ended the stream");
    followed.advance(delay - 10ms);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
    followed.advance(20ms);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  }
}

TEST(AFollowedServer, IsTriedAtAFixedPaceWhereThatIsAskedFor) {
  Followed followed({.endpoint = "node:1"}, false, 0s);
  followed.chance = 0.9;  // changes nothing
  followed.discovery.cpus.clear();
  followed.start();
  for (int i = 0; i < 5; ++i) {
    followed.hang_up("/gpu/");
    followed.advance(999ms);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
    followed.advance(2ms);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  }
}

TEST(AFollowedServer, IsBackSoonWhereItsStreamHadHeld) {
  Followed followed;
  followed.start();
  followed.hang_up("/gpu/");
  followed.advance(1s);
  followed.hang_up("/gpu/");
  followed.advance(60s);
  followed.hang_up("/gpu/", "Connection reset by peer");
  EXPECT_EQ(followed.readings().gpu.reason, "Connection reset by peer");
  followed.advance(1010ms);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
}

TEST(AFollowedServer, IsTriedAtTimesThatChanceSpreads) {
  for (const double chance : {0.0, 0.999}) {
    Followed followed;
    followed.chance = chance;
    followed.start();
    followed.hang_up("/gpu/");
    followed.advance(790ms);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
    followed.advance(20ms);
    EXPECT_EQ(followed.gpu() == ConnectionStatus::live, chance == 0.0);
    followed.advance(400ms);
    EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  }
}

TEST(AFollowedServer, ThatCannotBeReachedIsInTroubleAndTriedAgain) {
  Followed followed;
  followed.transport.is_reachable = false;
  followed.start();
  EXPECT_EQ(followed.server.progress(), Progress::failed);
  ASSERT_TRUE(followed.server.trouble());
  EXPECT_EQ(followed.server.trouble()->kind, client::Trouble::TroubleKind::connection);
  EXPECT_THAT(followed.readings().gpu.reason, HasSubstr("Connection refused"));
  followed.advance(2s);
  followed.transport.is_reachable = true;
  followed.advance(2s);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
}

TEST(AFollowedServer, ThatTakesAConnectionAndSaysNothingHasFailed) {
  Followed followed;
  followed.answers["/discover"] = std::nullopt;
  followed.start();
  EXPECT_EQ(followed.server.progress(), Progress::asking);
  followed.advance(5s);
  EXPECT_EQ(followed.server.progress(), Progress::failed);
}

TEST(AFollowedServer, ThatAnswersNonsenseHasFailed) {
  for (const char* body : {"", "5", "{}", "<html>", R"({"gpus":5})"}) {
    Followed followed;
    followed.answers["/discover"] = {{.body = body}};
    followed.start();
    EXPECT_EQ(followed.server.progress(), Progress::failed) << body;
  }
}

TEST(AFollowedServer, ThatBeginsNoStreamIsTriedAgain) {
  Followed followed;
  followed.answers["/gpu/stream_power"] = std::nullopt;
  followed.start();
  followed.advance(6s);
  EXPECT_EQ(followed.readings().gpu.reason, "the daemon does not answer");
  EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
}

// Weakness 5: readings never expire, there is no state.
TEST(AFollowedServer, IsStaleAfterThreeSecondsOfSilence) {
  Followed followed;
  followed.start();
  followed.answers["/time"] = std::nullopt;
  followed.advance(2900ms);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  followed.advance(1200ms);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::stale);
  EXPECT_EQ(followed.readings().gpu_power.at(0).si(), 100.0) << "with its own time";
  followed.send_gpu(0, 5000);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::stale);
}

TEST(AFollowedServer, StaysLiveWhileItIsSilentButReportsTheTime) {
  Followed followed;
  followed.start();
  followed.advance(30s);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_GE(followed.times_asked("/time"), 5U + 14U);
}

TEST(AFollowedServer, IsNotAskedForASignOfLifeWhereItGivesThemItself) {
  Followed followed;
  followed.start();
  for (int i = 0; i < 60; ++i) {
    followed.advance(500ms);
    followed.send("/gpu/", wire::comment("alive"));
    followed.send("/cpu/", wire::comment("alive"));
  }
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_EQ(followed.times_asked("/time"), 5U);
}

TEST(AFollowedServer, IsGivenUpWhereItStaysDead) {
  Followed followed;
  followed.start();
  followed.answers["/time"] = std::nullopt;
  followed.answers["/discover"] = std::nullopt;
  followed.advance(17s);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
  EXPECT_FALSE(followed.transport.is_open("/gpu/stream_power"));
}

TEST(AFollowedServer, HasTheDelayOfTheFastestAnswerAsItsDoubt) {
  Followed followed;
  followed.offset_s = 100.0;
  followed.clock.advance_at_each_look(2ms);
  followed.start();
  const PowerReadings readings = followed.readings();
  EXPECT_NEAR(readings.clock_offset_s, 100.0, 0.005);
  EXPECT_GE(readings.clock_offset_uncertainty_s, 0.0015);
  EXPECT_LE(readings.clock_offset_uncertainty_s, 0.02);
}

TEST(AFollowedServer, HasItsTimesCorrectedWhicheverWayItsClockIsOff) {
  for (const double offset_s : {0.0, 3600.0, -3600.0}) {
    Followed followed;
    followed.offset_s = offset_s;
    followed.start();
    followed.send_gpu(0, 5000);
    EXPECT_NEAR(followed.readings().gpu_time_s.at(0), to_unix(followed.clock.at()), 0.01);
  }
}

TEST(AFollowedServer, WithoutAClockIsAskedForItLessAndLessOften) {
  Followed followed;
  followed.answers["/time"] = {{.body = wire::encode_time(0)}};
  followed.start();
  for (int i = 0; i < 1200; ++i) {
    followed.advance(100ms);
    followed.send_gpu(0, 5000);
    followed.send("/cpu/", wire::comment("alive"));
  }
  // At the start, and 5, 15, 35, 75 s later.
  EXPECT_EQ(followed.times_asked("/time"), 5U * 5U);
}

TEST(AFollowedServer, IsAskedForTheTimeSoonAfterItsClockWasSet) {
  Followed followed;
  followed.start();
  followed.advance(90s);
  for (const double offset_s : {50.0, -70.0}) {
    followed.offset_s = offset_s;
    for (int i = 0; i < 650; ++i) {
      followed.advance(100ms);
      followed.send_gpu(0, 5000);
      if (i == 60) {
        EXPECT_NEAR(followed.readings().clock_offset_s, offset_s, 0.01);
      }
    }
  }
}

TEST(AFollowedServer, ThatDoesNotReportTheTimeIsFollowedWithoutKnowingIt) {
  Followed followed;
  followed.answers["/time"] = {{.status = 500}};
  followed.start();
  EXPECT_EQ(followed.server.progress(), Progress::settled);
  followed.send_gpu(0, 5000);
  const PowerReadings readings = followed.readings();
  EXPECT_EQ(readings.clock_offset_s, 0.0);
  EXPECT_TRUE(std::isinf(readings.clock_offset_uncertainty_s));
  EXPECT_EQ(readings.gpu_power.at(0).si(), 5.0);
}

// Weakness 8: the clock's offset is estimated once.
TEST(AFollowedServer, HasItsClockComparedEachMinute) {
  Followed followed;
  followed.start();
  followed.offset_s = 1.0;  // too little to be seen in events
  followed.advance(62s);
  EXPECT_NEAR(followed.readings().clock_offset_s, 1.0, 0.01);
}

TEST(AFollowedServer, HasItsClockComparedSoonWhereItWasSet) {
  for (const double offset_s : {7200.0, -7200.0}) {
    Followed followed;
    followed.start();
    followed.advance(10s);
    followed.offset_s = offset_s;
    followed.send_gpu(0, 5000);
    EXPECT_NEAR(followed.readings().clock_offset_s, offset_s, 0.01);
    followed.send_gpu(0, 6000);
    EXPECT_NEAR(followed.readings().timestamp_s, to_unix(followed.clock.at()), 0.01);
  }
}

TEST(AFollowedServer, ReportsADevicesValueWhoseTimeGoesBack) {
  Followed followed;
  followed.start();
  const auto at = followed.daemon_ms();
  followed.send("/gpu/", wire::event(wire::encode_event(at + 1000, 0, 5000)));
  followed.send("/gpu/", wire::event(wire::encode_event(at - 1000, 0, 6000)));
  EXPECT_EQ(followed.readings().gpu_power.at(0).si(), 6.0);
  EXPECT_EQ(followed.readings().gpu_power.at(1).si(), 200.0);
}

TEST(AFollowedServer, IsFollowedToAnotherListOfDevices) {
  Followed followed;
  followed.start();
  followed.discovery.gpus = {{.id = 1}, {.id = 2}};
  followed.gpu_mw = {{1, 1000}, {2, 2000}};
  followed.hang_up("/gpu/");
  followed.advance(1100ms);
  EXPECT_EQ(followed.readings().gpu_power,
            (std::map<std::uint32_t, Watts>{{1, Watts(1.0)}, {2, Watts(2.0)}}));
}

TEST(AFollowedServer, IsFollowedFromOneGenerationToTheOther) {
  Followed followed;
  followed.start();
  followed.send_gpu(0, 5000);
  followed.hang_up("/gpu/");
  followed.advance(1100ms);
  followed.send(
      "/gpu/",
      wire::event(wire::encode(wire::GpuPowersAt{followed.daemon_ms(), {{0, 7000}, {1, 8000}}})));
  EXPECT_EQ(followed.readings().gpu_power,
            (std::map<std::uint32_t, Watts>{{0, Watts(7.0)}, {1, Watts(8.0)}}));
}

TEST(AFollowedServer, ReportsNoDeviceThatASnapshotLeavesOut) {
  Followed followed;
  followed.start();
  followed.send("/gpu/",
                wire::event(wire::encode(wire::GpuPowersAt{followed.daemon_ms(), {{1, 8000}}})));
  EXPECT_EQ(followed.readings().gpu_power, (std::map<std::uint32_t, Watts>{{1, Watts(8.0)}}));
  EXPECT_THAT(followed.readings().cpu_power, SizeIs(1));
}

}  // namespace
}  // namespace wattle::client_test
