// What a client may do, over all that a daemon can offer and a token can permit, and what it says
// of each operation that fails.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>

#include "unit/client/played_daemon.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_client::message_of;

class DaemonClientRights : public testing_client::PlayedDaemon {
 protected:
  static constexpr unsigned kSets = 8;  ///< of three names

  static bool holds(unsigned set, unsigned place) { return (set >> place & 1U) != 0; }
  /// The names of a set as JSON, without the brackets.
  static std::string names_of(unsigned set) {
    constexpr const char* kNames[] = {R"("gpu-read")", R"("cpu-read")", R"("gpu-control")"};
    std::string names;
    for (unsigned place = 0; place < 3; ++place) {
      if (holds(set, place)) names += (names.empty() ? "" : ",") + std::string(kNames[place]);
    }
    return names;
  }
  static void expect_rights(const DaemonClient& client, unsigned set) {
    EXPECT_EQ(client.can_read_gpu(), holds(set, 0));
    EXPECT_EQ(client.can_read_cpu(), holds(set, 1));
    EXPECT_EQ(client.can_control_gpu(), holds(set, 2));
  }
};

TEST_F(DaemonClientRights, AreThoseGroupsThatAreOnWhereNoTokenIsWanted) {
  for (unsigned groups = 0; groups < kSets; ++groups) {
    SCOPED_TRACE(names_of(groups));
    answer("/discover", {200, discovery(names_of(groups))});
    expect_rights(DaemonClient(address_with("abc")), groups);
  }
}

TEST_F(DaemonClientRights, AreThoseGroupsThatAreOnAndInTheTokensScopes) {
  for (unsigned groups = 0; groups < kSets; ++groups) {
    answer("/discover", {200, discovery(names_of(groups), true)});
    for (unsigned scopes = 0; scopes < kSets; ++scopes) {
      SCOPED_TRACE("on: " + names_of(groups) + ", permitted: " + names_of(scopes));
      answer("/auth/whoami", {200, R"({"sub":"a","scopes":[)" + names_of(scopes) + "]}"});
      expect_rights(DaemonClient(address_with("abc")), groups & scopes);
    }
  }
}

TEST_F(DaemonClientRights, AreNoneWithoutATokenOrWithOneThatIsRefused) {
  answer("/auth/whoami", {401, R"({"error":"Invalid token: signature"})"});
  for (unsigned groups = 0; groups < kSets; ++groups) {
    answer("/discover", {200, discovery(names_of(groups), true)});
    for (const char* token : {"", "wrong"}) {
      SCOPED_TRACE(names_of(groups) + " with '" + token + "'");
      expect_rights(DaemonClient(address_with(token)), 0);
    }
  }
}

TEST_F(DaemonClientRights, AreThoseThatTheDaemonGrantsToThisConnectionWhereItSays) {
  std::string found = discovery();
  found.insert(found.size() - 1, R"(,"granted_scopes":["gpu-read"])");
  answer("/discover", {200, found});
  const DaemonClient client(address());
  EXPECT_TRUE(client.can_read_gpu());
  EXPECT_FALSE(client.can_read_cpu());
  EXPECT_FALSE(client.can_control_gpu());
  EXPECT_THAT(message_of<CapabilityError>([&] { client.require({.control_gpu = true}); }),
              HasSubstr("it permits gpu-control through its Unix socket or with a token alone"));
}

TEST_F(DaemonClientRights, ToSetGpusAreEnabledAsTheErrorSays) {
  answer("/discover", {200, discovery(R"("gpu-read","cpu-read")")});
  EXPECT_THAT(
      message_of<CapabilityError>([&] { DaemonClient(address()).require({.control_gpu = true}); }),
      HasSubstr("its group gpu-control is off: start it with --enable "
                "gpu-read,cpu-read,gpu-control"));
}

TEST_F(DaemonClientRights, ToCpusInPartComeWithTheReason) {
  EXPECT_EQ(DaemonClient(address()).cpu_limit(), "");
  std::string found = discovery();
  found.insert(found.size() - 1,
               R"(,"cpu_limit":{"period_s":0.5,"quantum_j":0.5,"reason":"why","remedy":"what"})");
  answer("/discover", {200, found});
  EXPECT_EQ(DaemonClient(address()).cpu_limit(),
            "it shows CPU energy once per 0.5 s, in steps of 0.5 J: why; what");
}

TEST_F(DaemonClientRights, OfATokenThatEndsAreThoseOfOneThatDoesNot) {
  answer("/discover", {200, discovery(R"("gpu-read")", true)});
  for (const char* end : {"", R"(,"exp":9999999999)", R"(,"exp":null)"}) {
    answer("/auth/whoami", {200, R"({"sub":"a","scopes":["gpu-read"])" + std::string(end) + "}"});
    EXPECT_TRUE(DaemonClient(address_with("abc")).can_read_gpu()) << end;
  }
}

TEST_F(DaemonClientRights, AnOperationThatFailsIsNamedWithItsServerAndTheReason) {
  using Ask = std::function<void(DaemonClient&)>;
  const std::pair<const char*, Ask> operations[] = {
      {"read the energy of GPUs", [](DaemonClient& c) { (void)c.gpu_energy(); }},
      {"read the power of GPUs", [](DaemonClient& c) { (void)c.gpu_power(); }},
      {"read the power limits of GPUs", [](DaemonClient& c) { (void)c.power_limit(); }},
      {"read the range of power limits", [](DaemonClient& c) { (void)c.power_limit_range(); }},
      {"read the persistence mode of GPUs", [](DaemonClient& c) { (void)c.persistence_mode(); }},
      {"read the energy of CPUs", [](DaemonClient& c) { (void)c.cpu_energy(); }},
      {"read the power of CPUs", [](DaemonClient& c) { (void)c.cpu_power(); }},
      {"read its clock", [](DaemonClient& c) { (void)c.time(); }},
      {"set the power limit", [](DaemonClient& c) { c.set_power_limit({0}, Watts(1.0)); }},
      {"set the persistence mode", [](DaemonClient& c) { c.set_persistence_mode({0}, true); }},
      {"lock the GPU clocks", [](DaemonClient& c) { c.set_gpu_locked_clocks({0}, 1, 2); }},
      {"unlock the GPU clocks", [](DaemonClient& c) { c.reset_gpu_locked_clocks({0}); }},
      {"lock the memory clocks", [](DaemonClient& c) { c.set_memory_locked_clocks({0}, 1, 2); }},
      {"unlock the memory clocks", [](DaemonClient& c) { c.reset_memory_locked_clocks({0}); }},
      {"unlock all clocks", [](DaemonClient& c) { c.reset_locked_clocks({0}); }},
  };
  for (const char* path :
       {"/gpu/get_cumulative_energy", "/gpu/get_power", "/gpu/get_power_limit",
        "/gpu/get_power_limit_constraints", "/gpu/get_persistence_mode",
        "/cpu/get_cumulative_energy", "/cpu/get_power", "/time", "/gpu/set_power_limit",
        "/gpu/set_persistence_mode", "/gpu/set_gpu_locked_clocks", "/gpu/reset_gpu_locked_clocks",
        "/gpu/set_mem_locked_clocks", "/gpu/reset_mem_locked_clocks", "/gpu/reset_locked_clocks"}) {
    answer(path, {500, R"({"error":"the driver is lost"})"});
  }
  DaemonClient client(address());
  for (const auto& [name, ask] : operations) {
    EXPECT_THAT(message_of<Error>([&] { ask(client); }),
                AllOf(HasSubstr("cannot " + std::string(name)), HasSubstr(server_.address()),
                      HasSubstr("the driver is lost (status 500)")));
  }
}

}  // namespace
}  // namespace wattle
