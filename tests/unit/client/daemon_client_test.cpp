#include "wattle/daemon_client.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <tuple>
#include <utility>

#include "unit/client/played_daemon.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing_client::message_of;

class DaemonClientTest : public testing_client::PlayedDaemon {};

TEST_F(DaemonClientTest, KnowsWhatIsServed) {
  const DaemonClient client(address());
  ASSERT_THAT(client.gpus(), SizeIs(2));
  EXPECT_EQ(client.gpus()[1].id, 2U);
  EXPECT_EQ(client.gpus()[0].name, "A");
  EXPECT_EQ(client.gpus()[0].pci_address, "0000:01:00.0");
  EXPECT_EQ(client.gpus()[1].has_energy_counter, false);
  ASSERT_THAT(client.cpus(), SizeIs(2));
  EXPECT_TRUE(client.cpus()[0].has_dram);
  EXPECT_FALSE(client.cpus()[1].has_dram);
  EXPECT_EQ(client.server().endpoint, server_.address());
}

TEST_F(DaemonClientTest, UnderstandsTheOldGeneration) {
  answer(
      "/discover",
      {200,
       R"({"gpu_ids":[0],"cpu_ids":[0],"dram_available":[true],"enabled_api_groups":["gpu-read"],)"
       R"("auth_required":false})"});
  const DaemonClient client(address());
  ASSERT_THAT(client.gpus(), SizeIs(1));
  EXPECT_EQ(client.gpus()[0].has_energy_counter, std::nullopt);
  EXPECT_TRUE(client.cpus().at(0).has_dram);
  EXPECT_TRUE(client.can_read_gpu());
}

TEST_F(DaemonClientTest, MayDoWhatTheDaemonOffers) {
  const std::tuple<const char*, bool, bool, bool> cases[] = {
      {R"("gpu-read","cpu-read","gpu-control")", true, true, true},
      {R"("gpu-read")", true, false, false},
      {R"("cpu-read","something-new")", false, true, false},
      {"", false, false, false},
  };
  for (const auto& [groups, gpu, cpu, control] : cases) {
    answer("/discover", {200, discovery(groups)});
    const DaemonClient client(address());
    EXPECT_EQ(client.can_read_gpu(), gpu) << groups;
    EXPECT_EQ(client.can_read_cpu(), cpu) << groups;
    EXPECT_EQ(client.can_control_gpu(), control) << groups;
    EXPECT_FALSE(client.auth_required());
    EXPECT_EQ(client.auth_error(), "");
  }
}

TEST_F(DaemonClientTest, NeedsNoTokenWhereNoneIsWanted) {
  const DaemonClient client(address_with("abc"));
  EXPECT_THAT(server_.requests(), SizeIs(1)) << "nobody is asked who we are";
  EXPECT_EQ(client.auth_error(), "");
}

TEST_F(DaemonClientTest, MayDoWhatBothDaemonAndTokenPermit) {
  answer("/discover", {200, discovery(R"("gpu-read","cpu-read")", true)});
  answer("/auth/whoami",
         {200, R"({"sub":"alice","scopes":["gpu-read","gpu-control"],"exp":9999999999})"});
  const DaemonClient client(address_with("abc"));
  EXPECT_TRUE(client.auth_required());
  EXPECT_EQ(client.auth_error(), "");
  EXPECT_THAT(client.granted_scopes(), ElementsAre("gpu-read", "gpu-control"));
  EXPECT_TRUE(client.can_read_gpu());
  EXPECT_FALSE(client.can_read_cpu()) << "the token lacks it";
  EXPECT_FALSE(client.can_control_gpu()) << "the daemon does not offer it";
  EXPECT_EQ(server_.requests().back().field("Authorization"), "Bearer abc");
}

TEST_F(DaemonClientTest, ATokenThatIsMissingIsRememberedNotThrown) {
  answer("/discover", {200, discovery(R"("gpu-read")", true)});
  const DaemonClient client(address());
  EXPECT_THAT(client.auth_error(), HasSubstr("requires a token"));
  EXPECT_FALSE(client.can_read_gpu());
  EXPECT_THAT(client.gpus(), SizeIs(2)) << "what is served is known all the same";
}

TEST_F(DaemonClientTest, ATokenThatIsRefusedIsRememberedNotThrown) {
  answer("/discover", {200, discovery(R"("gpu-read")", true)});
  for (const auto& [status, body] : {std::pair(401, R"({"error":"Token has expired."})"),
                                     std::pair(500, ""), std::pair(200, "[]")}) {
    answer("/auth/whoami", {status, body});
    const DaemonClient client(address_with("abc"));
    EXPECT_THAT(client.auth_error(), HasSubstr("cannot find what the token permits")) << status;
    EXPECT_THAT(client.auth_error(), Not(HasSubstr("abc")));
    EXPECT_FALSE(client.can_read_gpu());
    EXPECT_THAT(client.granted_scopes(), IsEmpty());
  }
}

TEST_F(DaemonClientTest, ReadsEnergiesAndPowers) {
  answer("/gpu/get_cumulative_energy", {200, R"({"0":{"energy_mj":123456},"2":{"energy_mj":7}})"});
  answer("/gpu/get_power", {200, R"({"timestamp_ms":1500,"power_mw":{"0":75000,"2":120000}})"});
  answer(
      "/cpu/get_cumulative_energy",
      {200,
       R"({"0":{"cpu_energy_uj":5,"dram_energy_uj":6},"1":{"cpu_energy_uj":7,"dram_energy_uj":null}})"});
  answer("/cpu/get_power",
         {200, R"({"timestamp_ms":2500,"power_mw":{"0":{"cpu_mw":85000,"dram_mw":null}}})"});
  DaemonClient client(address());
  EXPECT_THAT(client.gpu_energy(), ElementsAre(Pair(0U, Joules(123.456)), Pair(2U, Joules(0.007))));
  const GpuPowers gpus = client.gpu_power();
  EXPECT_EQ(gpus.unix_s, 1.5);
  EXPECT_THAT(gpus.power, ElementsAre(Pair(0U, Watts(75.0)), Pair(2U, Watts(120.0))));
  const auto energies = client.cpu_energy();
  ASSERT_THAT(energies, SizeIs(2));
  EXPECT_EQ(energies.at(0).dram, Joules(6e-6));
  EXPECT_EQ(energies.at(1).cpu, Joules(7e-6));
  EXPECT_EQ(energies.at(1).dram, std::nullopt);
  const CpuPowers cpus = client.cpu_power();
  EXPECT_EQ(cpus.unix_s, 2.5);
  ASSERT_TRUE(cpus.powers.contains(0));
  EXPECT_EQ(cpus.powers.at(0).cpu, Watts(85.0));
  EXPECT_EQ(cpus.powers.at(0).dram, std::nullopt);
}

TEST_F(DaemonClientTest, ReadsSettingsAndTime) {
  answer("/gpu/get_power_limit", {200, R"({"0":{"power_limit_mw":200000}})"});
  answer("/gpu/get_power_limit_constraints",
         {200, R"({"0":{"min_power_limit_mw":100000,"max_power_limit_mw":300000}})"});
  answer("/gpu/get_persistence_mode", {200, R"({"0":{"enabled":true}})"});
  answer("/time", {200, R"({"timestamp_ms":1762000000123})"});
  DaemonClient client(address());
  EXPECT_THAT(client.power_limit(), ElementsAre(Pair(0U, Watts(200.0))));
  EXPECT_THAT(client.power_limit_range(), ElementsAre(Pair(0U, Pair(Watts(100.0), Watts(300.0)))));
  EXPECT_THAT(client.persistence_mode(), ElementsAre(Pair(0U, true)));
  EXPECT_DOUBLE_EQ(client.time(), 1762000000.123);
}

TEST_F(DaemonClientTest, EachQuestionHasItsPathAndQuery) {
  using Ids = DaemonClient::Ids;
  const Ids some = {0, 2};
  using Ask = std::function<void(DaemonClient&)>;
  const std::pair<Ask, const char*> questions[] = {
      {[&](DaemonClient& c) { (void)c.gpu_energy(some); },
       "GET /gpu/get_cumulative_energy?gpu_ids=0%2C2"},
      {[](DaemonClient& c) { (void)c.gpu_energy(); }, "GET /gpu/get_cumulative_energy"},
      {[](DaemonClient& c) { (void)c.gpu_power({2}); }, "GET /gpu/get_power?gpu_ids=2"},
      {[](DaemonClient& c) { (void)c.power_limit(); }, "GET /gpu/get_power_limit"},
      {[](DaemonClient& c) { (void)c.power_limit_range(); },
       "GET /gpu/get_power_limit_constraints"},
      {[](DaemonClient& c) { (void)c.persistence_mode(); }, "GET /gpu/get_persistence_mode"},
      {[](DaemonClient& c) { (void)c.cpu_energy(); },
       "GET /cpu/get_cumulative_energy?cpu=true&dram=true"},
      {[&](DaemonClient& c) { (void)c.cpu_energy(some, true, false); },
       "GET /cpu/get_cumulative_energy?cpu=true&dram=false&cpu_ids=0%2C2"},
      {[](DaemonClient& c) { (void)c.cpu_power({1}); }, "GET /cpu/get_power?cpu_ids=1"},
      {[](DaemonClient& c) { (void)c.time(); }, "GET /time"},
      {[&](DaemonClient& c) { c.set_power_limit(some, Watts(200.0)); },
       "POST /gpu/set_power_limit?power_limit_mw=200000&gpu_ids=0%2C2&block=true"},
      {[](DaemonClient& c) { c.set_persistence_mode({0}, false, false); },
       "POST /gpu/set_persistence_mode?enabled=false&gpu_ids=0&block=false"},
      {[](DaemonClient& c) { c.set_gpu_locked_clocks({0}, 200, 1400); },
       "POST /gpu/set_gpu_locked_clocks?min_clock_mhz=200&max_clock_mhz=1400&gpu_ids=0&block=true"},
      {[](DaemonClient& c) { c.reset_gpu_locked_clocks({0}); },
       "POST /gpu/reset_gpu_locked_clocks?gpu_ids=0&block=true"},
      {[](DaemonClient& c) { c.set_memory_locked_clocks({0}, 1, 2); },
       "POST /gpu/set_mem_locked_clocks?min_clock_mhz=1&max_clock_mhz=2&gpu_ids=0&block=true"},
      {[](DaemonClient& c) { c.reset_memory_locked_clocks({0}); },
       "POST /gpu/reset_mem_locked_clocks?gpu_ids=0&block=true"},
      {[](DaemonClient& c) { c.reset_locked_clocks({0}, false); },
       "POST /gpu/reset_locked_clocks?gpu_ids=0&block=false"},
  };
  DaemonClient client(address());
  for (const auto& [ask, expected] : questions) {
    // No such path is answered here: what was asked counts.
    EXPECT_THROW(ask(client), CapabilityError) << expected;
    EXPECT_EQ(last_request(), expected);
  }
}

TEST_F(DaemonClientTest, ASettingIsMadeByAPostWithoutABody) {
  answer("/gpu/set_power_limit", {200, ""});
  DaemonClient client(address_with("abc"));
  client.set_power_limit({0}, Watts(200.0));
  const auto request = server_.requests().back();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.field("Content-Length"), "0");
  EXPECT_EQ(request.field("Authorization"), "Bearer abc");
}

TEST_F(DaemonClientTest, ASettingNamesItsGpus) {
  DaemonClient client(address());
  EXPECT_THROW(client.set_power_limit({}, Watts(200.0)), InvalidArgument);
  EXPECT_THROW(client.reset_locked_clocks({}), InvalidArgument);
  EXPECT_THAT(server_.requests(), SizeIs(1)) << "only what is served was asked";
}

TEST_F(DaemonClientTest, OneConnectionServesAllQuestions) {
  answer("/time", {200, R"({"timestamp_ms":1})"});
  DaemonClient client(address());
  for (int i = 0; i < 20; ++i) (void)client.time();
  EXPECT_EQ(server_.connections(), 1U);
}

TEST_F(DaemonClientTest, RequiresNothingThatIsThere) {
  const DaemonClient client(address());
  EXPECT_NO_THROW(client.require({}));
  EXPECT_NO_THROW(client.require({.read_gpu = true,
                                  .read_cpu = true,
                                  .control_gpu = true,
                                  .gpu_ids = {0, 2},
                                  .cpu_ids = {1}}));
}

TEST_F(DaemonClientTest, RequiringReportsEverythingThatIsMissingAtOnce) {
  answer("/discover", {200, discovery(R"("gpu-read")")});
  const DaemonClient client(address());
  const std::string message = message_of<CapabilityError>([&] {
    client.require({.read_gpu = true,
                    .read_cpu = true,
                    .control_gpu = true,
                    .gpu_ids = {0, 1},
                    .cpu_ids = {5}});
  });
  EXPECT_THAT(message, AllOf(HasSubstr(server_.address()), HasSubstr("group cpu-read is off"),
                             HasSubstr("group gpu-control is off"), HasSubstr("it has no GPU 1"),
                             HasSubstr("(available: 0, 2)"), HasSubstr("it has no CPU 5")));
  EXPECT_THAT(message, Not(HasSubstr("group gpu-read")));
}

TEST_F(DaemonClientTest, RequiringReportsAScopeThatIsMissing) {
  answer("/discover", {200, discovery(R"("gpu-read","cpu-read")", true)});
  answer("/auth/whoami", {200, R"({"sub":"a","scopes":["gpu-read"]})"});
  const DaemonClient client(address_with("abc"));
  EXPECT_NO_THROW(client.require({.read_gpu = true}));
  EXPECT_THAT(message_of<CapabilityError>([&] { client.require({.read_cpu = true}); }),
              HasSubstr("the token lacks the scope cpu-read"));
}

TEST_F(DaemonClientTest, RequiringAnythingWithoutAGoodTokenIsAnErrorOfTheToken) {
  answer("/discover", {200, discovery(R"("gpu-read")", true)});
  const DaemonClient client(address());
  EXPECT_THAT(message_of<AuthError>([&] { client.require({.read_gpu = true}); }),
              HasSubstr("requires a token"));
}

TEST_F(DaemonClientTest, CanBeMoved) {
  answer("/time", {200, R"({"timestamp_ms":1000})"});
  DaemonClient first(address());
  DaemonClient second(std::move(first));
  EXPECT_EQ(second.time(), 1.0);
}

TEST_F(DaemonClientTest, RefusesToBeUsedOnceItWasMoved) {
  DaemonClient client(address());
  const DaemonClient other = std::move(client);
  EXPECT_THAT(other.gpus(), SizeIs(2));
  // NOLINTBEGIN(bugprone-use-after-move): this is what is tested
  EXPECT_THAT(client.gpus(), IsEmpty());
  EXPECT_THAT(client.cpus(), IsEmpty());
  EXPECT_THAT(client.server().endpoint, IsEmpty());
  EXPECT_THAT(client.granted_scopes(), IsEmpty());
  EXPECT_FALSE(client.can_read_gpu());
  EXPECT_THROW(client.require({}), InvalidArgument);
  EXPECT_THROW((void)client.gpu_power(), InvalidArgument);
  EXPECT_THROW((void)client.cpu_energy(), InvalidArgument);
  EXPECT_THROW((void)client.time(), InvalidArgument);
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace
}  // namespace wattle
