// The client of wattle::stream and the daemon, as they meet: over TCP and over a Unix socket.
#include "wattle/daemon_client.hpp"

#include "daemon.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class ClientAndDaemon : public DaemonTest {
 protected:
  [[nodiscard]] Server at_socket() const { return Server::unix_socket(socket()); }
  [[nodiscard]] Server at_port() const { return Server::tcp("127.0.0.1", port_); }
};

TEST_F(ClientAndDaemon, MeetOverBothTransports) {
  serve();
  for (const Server& server : {at_socket(), at_port()}) {
    DaemonClient client(server);
    ASSERT_THAT(client.gpus(), SizeIs(2)) << server.endpoint;
    EXPECT_EQ(client.gpus()[0].name, "NVIDIA H100 PCIe");
    EXPECT_EQ(client.gpus()[0].pci_address, "0000:41:00.0");
    EXPECT_EQ(client.gpus()[0].has_energy_counter, true);
    EXPECT_EQ(client.gpus()[1].has_energy_counter, false);
    ASSERT_THAT(client.cpus(), SizeIs(2));
    EXPECT_TRUE(client.cpus()[0].has_dram);
    EXPECT_FALSE(client.cpus()[1].has_dram);
    EXPECT_TRUE(client.can_read_gpu());
    EXPECT_TRUE(client.can_read_cpu());
    EXPECT_FALSE(client.can_control_gpu());
  }
}

TEST_F(ClientAndDaemon, EveryQuestionHasItsAnswer) {
  play(50.0);
  serve();
  DaemonClient client(at_socket());
  const GpuPowers powers = client.gpu_power();
  EXPECT_EQ(powers.power.at(0), Watts(75.0));
  EXPECT_EQ(powers.power.at(1), Watts(120.0));
  EXPECT_NEAR(powers.unix_s, client.time(), 60.0);
  EXPECT_THAT(client.gpu_power({1}).power, SizeIs(1));
  EXPECT_GE(client.gpu_energy({0}).at(0), Joules(500.0));
  EXPECT_EQ(client.power_limit({0}).at(0), Watts(200.0));
  EXPECT_EQ(client.power_limit_range({0}).at(0).second, Watts(300.0));
  EXPECT_TRUE(client.persistence_mode({0}).at(0));
  const auto energy = client.cpu_energy();
  EXPECT_GT(energy.at(0).cpu.value(), Joules(0.0));
  EXPECT_TRUE(energy.at(0).dram);
  EXPECT_FALSE(energy.at(1).dram);
  EXPECT_NEAR(energy.at(0).since_unix_s.value(), client.time(), 60.0);
  EXPECT_FALSE(client.cpu_energy({0}, false, true).at(0).cpu);
  EXPECT_THAT(client.cpu_power().powers, SizeIs(2));
}

TEST_F(ClientAndDaemon, WhatIsRefusedIsReported) {
  serve();
  DaemonClient client(at_socket());
  EXPECT_THROW((void)client.gpu_power({5}), NoSuchDevice);
  EXPECT_THROW((void)client.cpu_energy({7}), NoSuchDevice);
  EXPECT_THROW(client.set_power_limit({0}, Watts(200.0)), CapabilityError) << "it controls nothing";
  EXPECT_THROW((void)client.gpu_energy({1}), Error) << "it has no counter";
  EXPECT_EQ(client.gpu_power({0}).power.at(0), Watts(75.0)) << "and goes on";
}

TEST_F(ClientAndDaemon, SettersReachTheDriverAndRefusalsSayWhy) {
  serve({"--enable", "gpu-read,gpu-control", "--settings-journal", path("settings")},
        "gpu A\nlimit 200 300\nleast_limit 100\nclock_range 210 1980 800 1593\n");
  DaemonClient client(at_socket());
  EXPECT_TRUE(client.can_control_gpu());
  client.set_power_limit({0}, Watts(150.0));
  client.set_persistence_mode({0}, true);
  client.set_gpu_locked_clocks({0}, 210, 1410);
  client.set_memory_locked_clocks({0}, 800, 1593);
  client.reset_gpu_locked_clocks({0});
  client.reset_memory_locked_clocks({0});
  client.reset_locked_clocks({0});
  EXPECT_EQ(client.power_limit({0}).at(0), Watts(150.0));
  EXPECT_TRUE(client.persistence_mode({0}).at(0));
  EXPECT_EQ(content_of(nvml_->script_path() + ".set"),
            "0 power_limit 150000\n0 persistence 1\n0 gpu_clocks 210 1410\n"
            "0 memory_clocks 800 1593\n0 gpu_clocks reset\n0 memory_clocks reset\n"
            "0 gpu_clocks reset\n0 memory_clocks reset\n");
  try {
    client.set_power_limit({0}, Watts(99.0));
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("outside of 100000 to 300000 mW"));
  }
  EXPECT_THROW(client.set_power_limit({7}, Watts(150.0)), NoSuchDevice);
  // Through TCP nobody sets anything without a token.
  EXPECT_THROW(DaemonClient(at_port()).set_power_limit({0}, Watts(150.0)), CapabilityError);
}

TEST_F(ClientAndDaemon, ATokenPermitsWhatItSays) {
  const std::string key = key_file("0123456789abcdef0123456789abcdef");
  serve({"--signing-key-path", key});
  Server server = at_port();
  EXPECT_THAT(DaemonClient(server).auth_error(), HasSubstr("requires a token"));
  EXPECT_THROW((void)DaemonClient(server).gpu_power(), AuthError);
  server.token = token("alice", "gpu-read");
  DaemonClient client(server);
  EXPECT_EQ(client.auth_error(), "");
  EXPECT_THAT(client.granted_scopes(), ElementsAre("gpu-read"));
  EXPECT_EQ(client.gpu_power({0}).power.at(0), Watts(75.0));
  EXPECT_FALSE(client.can_read_cpu());
  EXPECT_THROW((void)client.cpu_energy(), CapabilityError);
  server.token = "made.up.token";
  EXPECT_NE(DaemonClient(server).auth_error(), "");
}

TEST_F(ClientAndDaemon, ADaemonThatWasRestartedIsAskedAgainAndSaysSinceWhenItCounts) {
  serve();
  DaemonClient client(at_socket());
  const double since = client.cpu_energy().at(0).since_unix_s.value();
  daemon_.reset();
  EXPECT_THROW((void)client.time(), ConnectionError);
  serve();
  EXPECT_GT(client.cpu_energy().at(0).since_unix_s.value(), since);
}

TEST_F(ClientAndDaemon, AStreamFollowsADaemonThatChangesItsGenerationAndItsDevices) {
  serve();
  const Server server = at_socket();
  PowerStream stream({server}, {.reconnect_delay = std::chrono::milliseconds(20)});
  const auto powers = [&] { return stream.snapshot().at(server.endpoint).gpu_power; };
  using Powers = std::map<std::uint32_t, Watts>;
  EXPECT_EQ(powers(), (Powers{{0, Watts(75.0)}, {1, Watts(120.0)}}));
  serve({"--stream-format", "snapshot"}, "gpu A\npower step 0 90\ngpu B\npower step 0 60\n");
  EXPECT_TRUE(eventually([&] { return powers() == Powers{{0, Watts(90.0)}, {1, Watts(60.0)}}; }));
  EXPECT_EQ(stream.snapshot().at(server.endpoint).gpu.status, ConnectionStatus::live);
  serve({}, "gpu A\npower step 0 30\n");
  EXPECT_TRUE(eventually([&] { return powers() == Powers{{0, Watts(30.0)}}; }));
}

TEST_F(ClientAndDaemon, ThroughTcpIsGivenTheReasonWhyCpusAreShownInPart) {
  serve();
  EXPECT_THAT(DaemonClient(at_port()).cpu_limit(), HasSubstr("--public-cpu-period"));
  EXPECT_EQ(DaemonClient(at_socket()).cpu_limit(), "");
}

TEST_F(ClientAndDaemon, ControlIsNotOfferedThroughTcpWithoutAToken) {
  serve({"--enable", "gpu-read,gpu-control", "--settings-journal", path("settings")});
  EXPECT_TRUE(DaemonClient(at_socket()).can_control_gpu());
  const DaemonClient client(at_port());
  EXPECT_FALSE(client.can_control_gpu());
  EXPECT_THROW(client.require({.control_gpu = true}), CapabilityError);
}

}  // namespace
}  // namespace wattle::integration
