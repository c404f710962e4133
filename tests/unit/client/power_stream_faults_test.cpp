// Streams of servers that are half dead, slow, or worse, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.hpp"
#include "client/streaming_daemon.hpp"
#include "fakes/gated_sensor.hpp"
#include "power/heard_log.hpp"
#include "sanitized.hpp"
#include "wattle/error.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client_test {
namespace {

using namespace std::chrono_literals;
using fakes::eventually;
using testing::HasSubstr;

constexpr const char* kGpuStream = "/gpu/stream_power";

PowerStreamOptions impatient() {
  PowerStreamOptions options;
  options.timeout = 500ms;  // much longer than what others need on a busy machine
  options.reconnect_delay = 20ms;
  return options;
}

std::string gpu_event(std::uint64_t mw) {
  return wire::event(wire::encode_event(StreamingDaemon::now_ms(), 0, mw));
}

const PowerReadings& only_server(const PowerSnapshot& snapshot) { return snapshot.begin()->second; }

/// Accepts connections and sends nothing, or only a head for requests of `path`.
void play_dead(StreamingDaemon& daemon, const std::string& path, bool says_head) {
  daemon.on(path, [says_head](const auto&, fakes::HttpPeer& peer) {
    if (says_head) (void)peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    peer.stall();
  });
}

TEST(AHalfDeadServer, IsReportedWhereItSaysNothingOrAHeadAlone) {
  for (const char* path : {"/discover", "/auth/whoami", "/time"}) {
    for (const bool says_head : {false, true}) {
      SCOPED_TRACE(std::string(path) + (says_head ? " with a head" : ""));
      StreamingDaemon daemon;
      Server server = daemon.server();
      server.token = "t";
      daemon.on("/discover", [](const auto&, auto& peer) {
        (void)peer.send(fakes::http_answer(
            200,
            wire::encode(wire::Discovery{
                .gpus = {{.id = 0}}, .enabled_api_groups = {"gpu-read"}, .auth_required = true})));
      });
      daemon.on("/auth/whoami", [](const auto&, auto& peer) {
        (void)peer.send(
            fakes::http_answer(200, wire::encode(wire::Identity{"a", {"gpu-read"}, {}})));
      });
      play_dead(daemon, path, says_head);
      if (std::string_view(path) == "/time") {
        // Its clock is not known: it is followed all the same.
        PowerStreamOptions options = impatient();
        options.start_partial = true;
        const PowerStream stream({server}, options);
        EXPECT_TRUE(eventually(
            [&] { return only_server(stream.snapshot()).gpu.status == ConnectionStatus::live; }));
      } else {
        EXPECT_THROW(PowerStream({server}, impatient()), ConnectionError);
      }
    }
  }
}

TEST(AHalfDeadServer, KeepsNoOtherFromBeingFollowed) {
  StreamingDaemon dead;
  StreamingDaemon good;
  play_dead(dead, "/discover", true);
  PowerStreamOptions options = impatient();
  options.start_partial = true;
  PowerStream stream({dead.server(), good.server()}, options);
  PowerReader reader = stream.reader();
  good.send_gpu(0, 5000);
  ASSERT_TRUE(eventually([&] {
    return reader.wait() != nullptr &&
           reader.readings().at(good.server().endpoint).gpu_power.at(0).si() == 5.0;
  }));
  EXPECT_EQ(stream.snapshot().at(dead.server().endpoint).gpu.status, ConnectionStatus::connecting);
}

TEST(AHalfDeadServer, WhoseStreamBeginsAndSaysNothingIsReadyAtOnce) {
  StreamingDaemon daemon;
  daemon.on(kGpuStream, [](const auto&, fakes::HttpPeer& peer) {
    (void)peer.send(fakes::http_stream_head());
    peer.stall();
  });
  const PowerStream stream({daemon.server()});
  const PowerSnapshot snapshot = stream.snapshot();
  EXPECT_EQ(only_server(snapshot).gpu.status, ConnectionStatus::live);
  EXPECT_EQ(only_server(snapshot).gpu_power.at(0).si(), 1.0) << "by a single question";
}

TEST(AHalfDeadServer, WhoseStreamNeverBeginsIsTriedAgain) {
  StreamingDaemon daemon;
  play_dead(daemon, kGpuStream, false);
  PowerStreamOptions options = impatient();
  options.start_partial = true;
  const PowerStream stream({daemon.server()}, options);
  EXPECT_TRUE(eventually([&] {
    return only_server(stream.snapshot()).gpu.reason.find("does not answer") != std::string::npos;
  }));
  daemon.on(kGpuStream, {});
  EXPECT_TRUE(eventually(
      [&] { return only_server(stream.snapshot()).gpu.status == ConnectionStatus::live; }));
}

TEST(AServer, ThatClosesInTheMiddleOfAnEventReportsNothingOfIt) {
  StreamingDaemon daemon;
  std::atomic<int> streams = 0;
  const std::string event = gpu_event(5000);
  daemon.on(kGpuStream, [&](const auto&, fakes::HttpPeer& peer) {
    (void)peer.send(fakes::http_stream_head());
    peer.close();
    if (++streams == 1) {
      (void)peer.send(fakes::http_chunk(gpu_event(4000) + event.substr(0, event.size() - 3)));
      return;
    }
    // After the start of the new connection, the rest of the old event would complete it.
    (void)peer.send(fakes::http_chunk(event.substr(event.size() - 3) + gpu_event(6000)));
    peer.stall();
  });
  PowerStreamOptions options = impatient();
  std::vector<double> told;
  std::atomic<bool> is_over = false;
  options.on_update = [&](const PowerUpdate& update) {
    const double power_w = update.power.value().si();
    if (power_w > 3.0) told.push_back(power_w);
    if (power_w == 6.0) is_over = true;
  };
  PowerStream stream({daemon.server()}, options);
  ASSERT_TRUE(eventually([&] { return is_over.load(); }));
  stream.stop();
  EXPECT_THAT(told, testing::ElementsAre(4.0, 6.0));
}

TEST(AServer, ThatSaysAByteAtATimeWithAnyLineEndsIsUnderstood) {
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  PowerReader reader = stream.reader();
  const std::string json = wire::encode_event(StreamingDaemon::now_ms(), 0, 5000);
  for (const char byte : ": a comment\r\n\r\nevent: power\r\nid: 7\r\ndata:" + json + "\r\n\r\n") {
    daemon.send(std::string(1, byte));
  }
  ASSERT_NE(reader.wait(), nullptr);
  EXPECT_EQ(only_server(reader.readings()).gpu_power.at(0).si(), 5.0);
}

TEST(AServer, ThatSaysWhatIsNoEventIsFollowedOn) {
  const power_test::HeardLog log;
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  PowerReader reader = stream.reader();
  const std::string at = std::to_string(StreamingDaemon::now_ms());
  for (const std::string& bad :
       {std::string("5"), std::string("nonsense"), std::string("{}"),
        R"({"timestamp_ms":)" + at + R"(,"gpu_id":0,"power_mw":"75000"})",
        R"({"timestamp_ms":)" + at + R"(,"gpu_id":0,"power_mw":NaN})",
        R"({"timestamp_ms":)" + at + R"(,"gpu_id":0,"power_mw":-1})",
        R"({"timestamp_ms":)" + at + R"(,"gpu_id":0,"power_mw":9223372036854775808})",
        std::string(R"({"timestamp_ms":9223372036854775807,"gpu_id":0,"power_mw":1})")}) {
    daemon.send(wire::event(bad));
  }
  daemon.send_gpu(0, 5000);
  ASSERT_NE(reader.wait(), nullptr);
  EXPECT_EQ(only_server(reader.readings()).gpu_power.at(0).si(), 5.0)
      << "the first one that is reported";
  EXPECT_EQ(only_server(reader.readings()).gpu.status, ConnectionStatus::live);
  EXPECT_THAT(log.messages(), testing::ElementsAre(HasSubstr("an event is not a JSON object")));
}

/// What this process takes of memory, in MiB.
std::uint64_t resident_mib() {
  const std::string status = read_file("/proc/self/status").value_or("");
  const std::size_t at = status.find("VmRSS:");
  const std::size_t number = status.find_first_of("0123456789", at);
  std::uint64_t kib = 0;
  std::from_chars(status.data() + number, status.data() + status.size(), kib);
  return kib / 1024;
}

TEST(AServer, ThatSendsAGigabyteWithoutALineEndTakesNoMemory) {
  const power_test::HeardLog log;
  constexpr std::uint64_t kMostMib = 32;
  const std::size_t chunks = kSanitized ? 64 : 1024;
  const std::string chunk = fakes::http_chunk(std::string(std::size_t{1} << 20U, 'x'));
  StreamingDaemon daemon;
  std::atomic<std::uint64_t> before_mib = 0;
  std::atomic<std::uint64_t> most_mib = 0;
  std::atomic<int> streams = 0;
  daemon.on(kGpuStream, [&](const auto&, fakes::HttpPeer& peer) {
    (void)peer.send(fakes::http_stream_head());
    if (streams++ > 0) {  // it was cut
      (void)peer.send(fakes::http_chunk(gpu_event(5000)));
      return peer.stall();
    }
    (void)peer.send(fakes::http_chunk("data: "));
    before_mib = resident_mib();
    for (std::size_t i = 0; i < chunks && peer.send(chunk); ++i) {
      most_mib = std::max(most_mib.load(), resident_mib());
    }
    (void)peer.send(fakes::http_chunk("\n\n" + gpu_event(5000)));
    peer.stall();
  });
  PowerStream stream({daemon.server()});
  EXPECT_TRUE(
      eventually([&] { return only_server(stream.snapshot()).gpu_power.at(0).si() == 5.0; }));
  stream.stop();
  EXPECT_GT(before_mib, 0U);
  EXPECT_LT(most_mib, before_mib + kMostMib);
  EXPECT_THAT(log.messages(), testing::ElementsAre(HasSubstr("is longer than 1 MiB")));
}

/// The trailers of a chunked answer, until the client hangs up; how many bytes were sent.
std::size_t send_trailers(fakes::HttpPeer& peer) {
  constexpr std::size_t kMost = std::size_t{64} << 20U;
  const std::string lines = [] {
    std::string text;
    for (int i = 0; i < 1000; ++i)
      text += "X-Trailer-" + std::to_string(i) + ": " + std::string(80, 'x') + "\r\n";
    return text;
  }();
  (void)peer.send(fakes::http_stream_head() + "0\r\n");
  std::size_t sent = 0;
  while (sent < kMost && peer.send(lines)) sent += lines.size();
  return sent;
}

TEST(AServer, ThatSendsTrailersWithoutEndIsCut) {
  constexpr std::size_t kInSockets = std::size_t{16} << 20U;
  StreamingDaemon daemon;
  std::atomic<std::size_t> sent = 0;
  daemon.on(kGpuStream, [&](const auto&, fakes::HttpPeer& peer) {
    sent = send_trailers(peer);
    peer.close();
  });
  PowerStream stream({daemon.server()}, impatient());
  EXPECT_TRUE(eventually([&] { return sent > 0; }));
  EXPECT_LT(sent, kInSockets);
}

// Weakness 3: the original's thread dies of such an answer.
TEST(AServer, ThatRefusesItsOnlyStreamIsDeniedWhenTheStreamIsMade) {
  const power_test::HeardLog log;
  for (const int status : {401, 403, 404}) {
    StreamingDaemon daemon;
    daemon.on(kGpuStream, [status](const auto&, auto& peer) {
      (void)peer.send(fakes::http_answer(status, wire::encode_error("not for you")));
    });
    const PowerStream stream({daemon.server()});
    const PowerSnapshot snapshot = stream.snapshot();
    EXPECT_EQ(only_server(snapshot).gpu.status, ConnectionStatus::denied);
    EXPECT_THAT(only_server(snapshot).gpu.reason, HasSubstr("not for you"));
  }
}

TEST(AServer, WhoseRefusalDoesNotEndIsDeniedAllTheSame) {
  const power_test::HeardLog log;
  for (const bool says_much : {false, true}) {
    SCOPED_TRACE(says_much ? "more than anybody reads" : "then nothing");
    StreamingDaemon daemon;
    daemon.on(kGpuStream, [says_much](const auto&, fakes::HttpPeer& peer) {
      (void)peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 1000000000\r\n\r\nnot for you");
      while (says_much && peer.send(std::string(65536, 'x'))) {
      }
      peer.stall();
    });
    PowerStreamOptions options = impatient();
    options.start_partial = true;
    const PowerStream stream({daemon.server()}, options);
    EXPECT_TRUE(eventually(
        [&] { return only_server(stream.snapshot()).gpu.status == ConnectionStatus::denied; }));
    EXPECT_THAT(only_server(stream.snapshot()).gpu.reason, HasSubstr("answers 403"));
  }
}

}  // namespace
}  // namespace wattle::client_test
