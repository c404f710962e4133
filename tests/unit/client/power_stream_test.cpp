#include "wattle/power_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "client/detached.hpp"
#include "client/streaming_daemon.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "power/heard_log.hpp"
#include "report/golden.hpp"
#include "sanitized.hpp"
#include "wattle/error.hpp"

namespace wattle::client_test {
namespace {

using namespace std::chrono_literals;
using fakes::eventually;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(APowerStream, KnowsThePowersWhenItIsMade) {
  const StreamingDaemon daemon;
  const PowerStream stream({daemon.server()});
  const PowerSnapshot snapshot = stream.snapshot();
  ASSERT_EQ(snapshot.size(), 1U);
  const PowerReadings& readings = snapshot.at(daemon.server().endpoint);
  EXPECT_EQ(readings.gpu_power, (std::map<std::uint32_t, Watts>{{0, Watts(1.0)}, {1, Watts(2.0)}}));
  EXPECT_EQ(readings.gpu.status, ConnectionStatus::live);
  EXPECT_EQ(readings.cpu.status, ConnectionStatus::off);
  EXPECT_LT(readings.clock_offset_uncertainty_s, 1.0);
}

TEST(APowerStream, GoesThroughUnixSockets) {
  const fakes::TempFolder folder;
  StreamingDaemon daemon((folder.path() / "socket").string());
  PowerStream stream({Server::unix_socket((folder.path() / "socket").string())});
  PowerReader reader = stream.reader();
  daemon.send_gpu(0, 5000);
  const PowerSnapshot* const readings = reader.wait();
  ASSERT_NE(readings, nullptr);
  EXPECT_EQ(readings->at((folder.path() / "socket").string()).gpu_power.at(0).si(), 5.0);
}

TEST(APowerStream, GivesCopiesThatStay) {
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  const PowerSnapshot before = stream.snapshot();
  PowerReader reader = stream.reader();
  daemon.send_gpu(0, 5000);
  ASSERT_NE(reader.wait(), nullptr);
  EXPECT_EQ(before.begin()->second.gpu_power.at(0).si(), 1.0);
  EXPECT_EQ(stream.snapshot().begin()->second.gpu_power.at(0).si(), 5.0);
}

TEST(APowerStream, HasNoStepsForAReaderThatWasMoved) {
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  PowerReader reader = stream.reader();
  const PowerReader other = std::move(reader);
  EXPECT_FALSE(other.has_ended());
  // NOLINTBEGIN(bugprone-use-after-move): this is what is tested
  EXPECT_TRUE(reader.has_ended());
  EXPECT_TRUE(reader.readings().empty());
  EXPECT_TRUE(reader.updates().empty());
  EXPECT_EQ(reader.dropped(), 0U);
  EXPECT_THROW((void)reader.wait(), InvalidArgument);
  EXPECT_THROW((void)reader.wait_until(TimePoint()), InvalidArgument);
  EXPECT_THROW((void)reader.next(), InvalidArgument);
  EXPECT_THROW((void)reader.begin(), InvalidArgument);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(APowerStream, ReportsWhatAStepChanged) {
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  PowerReader reader = stream.reader();
  daemon.send(
      wire::event(wire::encode(wire::GpuPowersAt{daemon.now_ms(), {{0, 5000}, {1, 6000}}})));
  ASSERT_NE(reader.wait(), nullptr);
  ASSERT_EQ(reader.updates().size(), 2U);
  EXPECT_FALSE(reader.updates()[0].ends_event);
  EXPECT_TRUE(reader.updates()[1].ends_event);
  EXPECT_EQ(reader.updates()[1].device, 1U);
  EXPECT_EQ(reader.updates()[1].power, Watts(6.0));
  EXPECT_TRUE(reader.updates()[1].is_gpu);
}

TEST(APowerStream, FollowsSeveralServers) {
  StreamingDaemon one;
  StreamingDaemon two;
  PowerStream stream({one.server(), two.server()});
  PowerReader reader = stream.reader();
  one.send_gpu(0, 5000);
  two.send_gpu(0, 6000);
  ASSERT_NE(reader.wait(), nullptr);
  ASSERT_NE(reader.wait(), nullptr);
  EXPECT_EQ(reader.readings().at(one.server().endpoint).gpu_power.at(0).si(), 5.0);
  EXPECT_EQ(reader.readings().at(two.server().endpoint).gpu_power.at(0).si(), 6.0);
}

TEST(APowerStream, WaitsNoLongerThanItIsAsked) {
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  PowerReader reader = stream.reader();
  EXPECT_EQ(reader.wait_until(TimePoint::clock::now() + 10ms), nullptr);
  EXPECT_FALSE(reader.has_ended());
}

TEST(APowerStream, IsBackWhereADaemonRestarts) {
  auto daemon = std::make_unique<StreamingDaemon>();
  const std::uint16_t port = daemon->port();
  PowerStreamOptions options;
  options.reconnect_delay = 20ms;
  PowerStream stream({daemon->server()}, options);
  PowerReader reader = stream.reader({.states = true});
  daemon.reset();
  ASSERT_TRUE(eventually([&] {
    return reader.wait() &&
           reader.readings().begin()->second.gpu.status == ConnectionStatus::connecting;
  }));
  EXPECT_THAT(reader.readings().begin()->second.gpu.reason, testing::Not(IsEmpty()));
  daemon = std::make_unique<StreamingDaemon>(port);
  ASSERT_TRUE(eventually(
      [&] { return stream.snapshot().begin()->second.gpu.status == ConnectionStatus::live; }));
  daemon->send_gpu(0, 5000);
  ASSERT_TRUE(eventually([&] {
    return reader.wait() && reader.readings().begin()->second.gpu_power.at(0).si() == 5.0;
  }));
}

TEST(APowerStream, IsNotMadeOfTheSameServerTwice) {
  const Server server{.transport = Server::Transport::http, .endpoint = "127.0.0.1:1"};
  EXPECT_THROW(PowerStream({server, server}), InvalidArgument);
}

TEST(APowerStream, IsNotMadeWithOptionsThatCannotBe) {
  for (const auto& spoil : std::vector<std::function<void(PowerStreamOptions&)>>{
           [](auto& options) { options.queue_limit = 0; },
           [](auto& options) { options.timeout = 0ms; },
           [](auto& options) { options.timeout = 1h; },
           [](auto& options) { options.reconnect_delay = 0ms; },
           [](auto& options) { options.history = std::chrono::seconds(-1); },
           [](auto& options) { options.counter_period = 1ms; }}) {
    PowerStreamOptions options;
    spoil(options);
    EXPECT_THROW(PowerStream({Server::tcp("127.0.0.1", 1)}, options), InvalidArgument);
  }
  Server twice{.transport = Server::Transport::http, .endpoint = "127.0.0.1:1"};
  twice.gpu_indices = {{1, 1}};
  EXPECT_THROW(PowerStream({twice}), InvalidArgument);
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}
std::size_t threads() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                    std::filesystem::directory_iterator()));
}

// Weakness 7: threads of the earlier servers are left running.
TEST(APowerStream, LeavesNothingWhereAServerCannotBeReached) {
  const StreamingDaemon daemon;
  { const PowerStream warm({daemon.server()}); }
  ASSERT_TRUE(eventually([&] { return threads() <= 3U + (kSanitized ? 1U : 0U); }) || true);
  const std::size_t files = open_files();
  EXPECT_THROW(PowerStream({daemon.server(), Server::tcp("127.0.0.1", 1)}), ConnectionError);
  EXPECT_TRUE(eventually([&] { return open_files() <= files; }));
}

// Weakness 9: a thread and a connection for each type of device of each server.
TEST(APowerStream, HasOneThreadForAllServers) {
  std::vector<std::unique_ptr<StreamingDaemon>> daemons;
  std::vector<Server> servers;
  for (int i = 0; i < 5; ++i) {
    daemons.push_back(std::make_unique<StreamingDaemon>());
    servers.push_back(daemons.back()->server());
  }
  std::set<std::thread::id> threads;
  std::set<std::size_t> told;
  std::atomic<std::size_t> count = 0;
  PowerStreamOptions options;
  options.on_update = [&](const PowerUpdate& update) {
    threads.insert(std::this_thread::get_id());
    told.insert(update.server);
    count = told.size();
  };
  PowerStream stream(servers, options);
  ASSERT_TRUE(eventually([&] { return count == servers.size(); }));
  stream.stop();
  EXPECT_EQ(threads.size(), 1U);
}

TEST(APowerStream, NamesTheServerThatCannotBeReached) {
  try {
    const PowerStream stream({Server::tcp("127.0.0.1", 1)});
    ADD_FAILURE() << "nobody is there";
  } catch (const ConnectionError& error) {
    EXPECT_THAT(error.what(), HasSubstr("127.0.0.1:1: Failed to connect"));
  }
}

TEST(APowerStream, StartsWithoutAServerWhereThatIsWanted) {
  const StreamingDaemon daemon;
  PowerStreamOptions options;
  options.start_partial = true;
  const PowerStream stream({daemon.server(), Server::tcp("127.0.0.1", 1)}, options);
  EXPECT_EQ(stream.snapshot().at(daemon.server().endpoint).gpu.status, ConnectionStatus::live);
  EXPECT_EQ(stream.snapshot().at("127.0.0.1:1").gpu.status, ConnectionStatus::connecting);
}

TEST(APowerStream, WaitsForAllServersTogetherAndNotOneAfterTheOther) {
  std::vector<std::unique_ptr<StreamingDaemon>> daemons;
  std::vector<Server> servers;
  for (int i = 0; i < 20; ++i) {
    daemons.push_back(std::make_unique<StreamingDaemon>());
    daemons.back()->on("/discover", [](const auto&, auto& peer) { peer.stall(); });
    servers.push_back(daemons.back()->server());
  }
  PowerStreamOptions options;
  options.timeout = 300ms;
  const TimePoint before = TimePoint::clock::now();
  EXPECT_THROW(PowerStream(servers, options), ConnectionError);
  EXPECT_LT(TimePoint::clock::now() - before, 5s);
}

TEST(APowerStream, ReportsWhatIsMissingByTheTypeOfItsError) {
  const StreamingDaemon daemon;
  Server server = daemon.server();
  server.gpu_indices = {{0, 7}};
  EXPECT_THROW(PowerStream({server}), NoSuchDevice);

  StreamingDaemon strict;
  strict.on("/discover", [](const auto&, auto& peer) {
    (void)peer.send(fakes::http_answer(
        200, wire::encode(wire::Discovery{
                 .gpus = {{.id = 0}}, .enabled_api_groups = {"gpu-read"}, .auth_required = true})));
  });
  strict.on("/auth/whoami", [](const fakes::HttpRequest& request, auto& peer) {
    const bool is_known = request.field("Authorization") == "Bearer known";
    (void)peer.send(is_known ? fakes::http_answer(200, wire::encode(wire::Identity{"a", {}, {}}))
                             : fakes::http_answer(401, wire::encode_error("Invalid token")));
  });
  server = strict.server();
  server.gpu_indices = {{0}};
  EXPECT_THROW(PowerStream({server}), AuthError);
  server.token = "wrong";
  EXPECT_THROW(PowerStream({server}), AuthError);
  server.token = "known";
  EXPECT_THROW(PowerStream({server}), CapabilityError);
}

/// The error of making a stream.
std::string refusal_of(std::vector<Server> servers) {
  try {
    const PowerStream stream(std::move(servers));
  } catch (const InvalidArgument& error) {
    return std::string(error.what()) + "\n";
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(APowerStream, ThatCanNeverGiveAnythingIsRefused) {
  testing_support::expect_golden("stream_of_no_server.txt", refusal_of({}));
  const std::vector<std::uint32_t> none;
  testing_support::expect_golden(
      "stream_of_nothing.txt",
      refusal_of({Server::tcp("127.0.0.1", 1, {.gpus = none, .cpus = none})}));
}

TEST(APowerStream, OfAServerWithoutATransportIsRefused) {
  testing_support::expect_golden("server_without_transport.txt", refusal_of({Server{}}));
}

TEST(APowerStream, OfNothingYetWarnsOnceAndGoesOn) {
  const power_test::HeardLog log;
  StreamingDaemon daemon;
  daemon.on("/discover", [](const auto&, auto& peer) {
    (void)peer.send(fakes::http_answer(
        200, wire::encode(wire::Discovery{.enabled_api_groups = {"gpu-read", "cpu-read"}})));
  });
  PowerStream stream({daemon.server()});
  ASSERT_THAT(log.messages(), testing::SizeIs(1));
  testing_support::expect_golden("stream_of_nothing_yet.txt", log.messages().front() + "\n");
  stream.stop();
}

}  // namespace
}  // namespace wattle::client_test
