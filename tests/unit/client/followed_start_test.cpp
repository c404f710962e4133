// What a server is asked first, and when nothing more is waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/followed.hpp"
#include "client/followed_server.hpp"
#include "power/heard_log.hpp"

namespace wattle::client_test {
namespace {

using StartProgress = FollowedServer::ServerProgress;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AFollowedServer, IsAskedInTheOrderOfTheProtocol) {
  Followed followed;
  followed.start();
  EXPECT_THAT(
      followed.transport.asked,
      ElementsAre("/discover", "/time", "/time", "/time", "/time", "/time", "/gpu/stream_power",
                  "/cpu/stream_power", "/gpu/get_power", "/cpu/get_power"));
  EXPECT_EQ(followed.server.progress(), StartProgress::settled);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
}

// A stream sends only changes: weakness 1 of zeusd's.
TEST(AFollowedServer, ReportsThePowersOfNowBeforeAnythingChanges) {
  Followed followed;
  followed.start();
  const PowerReadings readings = followed.readings();
  EXPECT_EQ(readings.gpu_power,
            (std::map<std::uint32_t, Watts>{{0, Watts(100.0)}, {1, Watts(200.0)}}));
  EXPECT_EQ(readings.cpu_power.at(0), (CpuPowerReading{.cpu = Watts(50.0), .dram = Watts(10.0)}));
}

TEST(AFollowedServer, MayHaveSomethingWhileItHasNotAnswered) {
  Followed followed;
  followed.answers["/discover"] = std::nullopt;
  followed.start();
  EXPECT_EQ(followed.server.progress(), StartProgress::asking);
  EXPECT_TRUE(followed.server.has_streams());
}

TEST(AFollowedServer, PrefersWhatTheStreamSaysToAnOlderSinglePower) {
  Followed followed;
  followed.answers["/gpu/get_power"] = std::nullopt;
  followed.start();
  const wire::UnixMs asked = followed.daemon_ms();
  followed.advance(1s);
  followed.send_gpu(0, 111'000);
  followed.answers["/gpu/get_power"] = {
      {.body = wire::encode(wire::GpuPowersAt{asked, {{0, 1}, {1, 222'000}}})}};
  followed.advance(100ms);
  EXPECT_EQ(followed.readings().gpu_power,
            (std::map<std::uint32_t, Watts>{{0, Watts(111.0)}, {1, Watts(222.0)}}));
}

TEST(AFollowedServer, AsksForTheDevicesThatWereAskedForAlone) {
  Followed followed({.endpoint = "node:1", .gpu_indices = {{1}}, .cpu_indices = {{}}});
  followed.start();
  EXPECT_EQ(followed.times_asked("/gpu/stream_power?gpu_ids=1"), 1U);
  EXPECT_EQ(followed.times_asked("/gpu/get_power?gpu_ids=1"), 1U);
  EXPECT_FALSE(followed.transport.is_open("/cpu"));
  EXPECT_EQ(followed.cpu(), ConnectionStatus::off);
}

TEST(AFollowedServer, WithoutDevicesOfATypeHasThatStreamOff) {
  Followed followed;
  followed.discovery.gpus.clear();
  followed.start();
  EXPECT_EQ(followed.gpu(), ConnectionStatus::off);
  EXPECT_EQ(followed.readings().gpu.reason, "the daemon serves no GPU");
  EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
}

TEST(AFollowedServer, WithoutATypesGroupHasThatStreamDenied) {
  const power_test::HeardLog log;
  Followed followed;
  followed.discovery.enabled_api_groups = {"gpu-read"};
  followed.start();
  EXPECT_EQ(followed.cpu(), ConnectionStatus::denied);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
  EXPECT_FALSE(followed.server.trouble());
  EXPECT_THAT(log.messages(), ElementsAre(HasSubstr("CPU stream of node:1 is denied: ")));
}

TEST(AFollowedServer, ThatShowsCpusInPartIsReportedOnceWithTheReason) {
  const power_test::HeardLog log;
  Followed followed;
  followed.discovery.cpu_limit =
      wire::CpuLimit{.period_s = 1, .quantum_j = 1, .reason = "why", .remedy = "what"};
  followed.start();
  const auto is_it =
      HasSubstr("node:1: it shows CPU energy once per 1 s, in steps of 1 J: why; what");
  EXPECT_THAT(log.messages(), ElementsAre(is_it));
  followed.hang_up("/cpu/", "gone");
  followed.hang_up("/gpu/", "gone");
  followed.advance(10s);
  EXPECT_THAT(log.messages(), ElementsAre(is_it));
}

TEST(AFollowedServer, ThatShowsCpusInPartIsNotReportedToWhomItDoesNotMatter) {
  const power_test::HeardLog log;
  Followed followed({.endpoint = "node:1", .cpu_indices = std::vector<std::uint32_t>()});
  followed.discovery.cpu_limit =
      wire::CpuLimit{.period_s = 1, .quantum_j = 1, .reason = "why", .remedy = "what"};
  followed.start();
  EXPECT_THAT(log.messages(), IsEmpty());
}

TEST(AFollowedServer, IsInTroubleWhereADeviceIsMissingThatWasAskedFor) {
  Followed followed({.endpoint = "node:1", .gpu_indices = {{0, 5}}});
  followed.start();
  ASSERT_TRUE(followed.server.trouble());
  EXPECT_EQ(followed.server.trouble()->kind, client::Trouble::TroubleKind::device);
  EXPECT_EQ(followed.server.trouble()->what, "node:1: GPU 5 is not served; there are: [0, 1]");
}

TEST(AFollowedServer, IsInTroubleWhereTheTokenLacksAScopeThatWasAskedFor) {
  Followed followed({.endpoint = "node:1", .token = "t", .cpu_indices = {{0}}});
  followed.discovery.auth_required = true;
  followed.answers["/auth/whoami"] = {
      {.body = wire::encode(wire::Identity{"alice", {"gpu-read"}, {}})}};
  followed.start();
  ASSERT_TRUE(followed.server.trouble());
  EXPECT_EQ(followed.server.trouble()->kind, client::Trouble::TroubleKind::scope);
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
}

TEST(AFollowedServer, LeavesOutWhatTheTokenDoesNotPermitWhereNobodyAskedForIt) {
  const power_test::HeardLog log;
  Followed followed({.endpoint = "node:1", .token = "t"});
  followed.discovery.auth_required = true;
  followed.answers["/auth/whoami"] = {
      {.body = wire::encode(wire::Identity{"alice", {"gpu-read"}, {}})}};
  followed.start();
  EXPECT_FALSE(followed.server.trouble());
  EXPECT_EQ(followed.cpu(), ConnectionStatus::denied);
  EXPECT_EQ(followed.readings().cpu.reason, "the token does not permit cpu-read");
  EXPECT_EQ(followed.gpu(), ConnectionStatus::live);
}

TEST(AFollowedServer, ThatWantsATokenDeniesThoseWithoutOrWithAWrongOne) {
  const power_test::HeardLog log;
  for (const char* token : {"", "wrong"}) {
    Followed followed({.endpoint = "node:1", .token = token, .gpu_indices = {{0}}});
    followed.discovery.auth_required = true;
    followed.answers["/auth/whoami"] = {
        {.status = 401, .body = wire::encode_error("Invalid token: signature")}};
    followed.start();
    EXPECT_EQ(followed.gpu(), ConnectionStatus::denied);
    ASSERT_TRUE(followed.server.trouble());
    EXPECT_EQ(followed.server.trouble()->kind, client::Trouble::TroubleKind::token);
  }
}

TEST(AFollowedServer, IsSettledAtOnceWhereItsOnlyStreamFails) {
  const power_test::HeardLog log;
  for (const int status : {401, 403, 404, 500}) {
    Followed followed;
    followed.discovery.cpus.clear();
    followed.answers["/gpu/stream_power"] = {{.status = status}};
    followed.start();
    EXPECT_EQ(followed.server.progress(), StartProgress::settled)
        << status << ": nobody waits for more";
    EXPECT_EQ(followed.server.has_streams(), status == 500);
  }
}

TEST(AFollowedServer, IsSettledAtOnceWhereItEndsItsOnlyStreamAtOnce) {
  Followed followed;
  followed.discovery.cpus.clear();
  followed.answers["/gpu/get_power"] = std::nullopt;
  followed.start();
  EXPECT_EQ(followed.server.progress(), StartProgress::reached)
      << "the powers of now are asked for";
  followed.answers["/gpu/get_power"] = {{.status = 500}};
  followed.hang_up("/gpu/");
  EXPECT_EQ(followed.server.progress(), StartProgress::settled);
}

// The first power of a CPU takes a daemon as long as its period is.
TEST(AFollowedServer, IsSettledWhenItsPowersAreKnownWhateverElseIsAsked) {
  Followed followed;
  followed.answers["/cpu/get_power"] = std::nullopt;
  followed.start();
  followed.advance(1100ms);  // silent for a second: a sign of life is asked for
  followed.answers["/time"] = std::nullopt;
  followed.answers.erase("/cpu/get_power");
  followed.settle();
  EXPECT_EQ(followed.server.progress(), StartProgress::settled);
}

TEST(AFollowedServer, ThatHasNotAnsweredYetIsConnectingAndNotOff) {
  Followed followed({.endpoint = "node:1", .cpu_indices = {{}}});
  followed.answers["/discover"] = std::nullopt;
  followed.start();
  EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
  EXPECT_EQ(followed.readings().gpu.reason, "the daemon has not answered yet");
  EXPECT_EQ(followed.cpu(), ConnectionStatus::off) << "nobody asked for it";

  followed.answers.erase("/discover");
  followed.answers["/gpu/stream_power"] = std::nullopt;
  followed.settle();
  EXPECT_EQ(followed.gpu(), ConnectionStatus::connecting);
  EXPECT_EQ(followed.readings().gpu.reason, "") << "it has";
  followed.server.end();
  EXPECT_EQ(followed.gpu(), ConnectionStatus::gone);
}

}  // namespace
}  // namespace wattle::client_test
