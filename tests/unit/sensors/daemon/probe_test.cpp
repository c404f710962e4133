#include <gmock/gmock.h>
#include <sys/stat.h>

#include "fakes/unprivileged.hpp"
#include "sensors/daemon/daemon.hpp"
#include "unit/sensors/daemon/served_machine.hpp"

namespace wattle::daemon_source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DaemonProbe : public testing_daemon::ServedMachine {
 protected:
  /// The one thing that is refused.
  [[nodiscard]] SensorRefusal refused() const { return refused(system()); }
  [[nodiscard]] static SensorRefusal refused(const System& system) {
    const Survey found = probe(system, machine_clock());
    EXPECT_THAT(found.sensors, IsEmpty());
    if (found.refused.size() == 1) return found.refused.front();
    ADD_FAILURE() << found.refused.size() << " refusals";
    return {};
  }
};

TEST_F(DaemonProbe, AsksNobodyWhereAPackageIsReadAlready) {
  serve();
  const Survey found = probe(system(), machine_clock(), {Domain::package(0)});
  EXPECT_THAT(found.sensors, IsEmpty());
  EXPECT_THAT(found.refused, IsEmpty());
  EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(DaemonProbe, AsksNobodyWhereNobodyIsNamed) {
  System nobody;
  nobody.daemon_socket.clear();
  const Survey found = probe(nobody, machine_clock());
  EXPECT_THAT(found.sensors, IsEmpty());
  EXPECT_THAT(found.refused, IsEmpty());
}

TEST_F(DaemonProbe, AsksOnce) {
  serve();
  const Survey found = probe(system(), machine_clock());
  EXPECT_EQ(found.sensors.size(), 1U);
  EXPECT_EQ(server_->requests().size(), 1U);
}

TEST_F(DaemonProbe, ASocketThatIsMissingIsReportedWhereItWasNamed) {
  const SensorRefusal refusal = refused();
  EXPECT_EQ(refusal.scope, RefusalScope::part);
  EXPECT_THAT(refusal.proof, HasSubstr(path()));
  EXPECT_THAT(refusal.remedy, HasSubstr("systemctl enable --now wattled.socket"));
}

TEST_F(DaemonProbe, ADefaultSocketThatIsMissingIsASpareWay) {
  if (std::filesystem::exists(System{}.daemon_socket)) GTEST_SKIP() << "a daemon runs here";
  EXPECT_EQ(refused(System{}).scope, RefusalScope::spare);
}

TEST_F(DaemonProbe, WhoMayNotConnectLearnsWhichGroupToJoin) {
  serve();
  constexpr gid_t kGroup = 54321;  // without a name
  if (::chown(path().c_str(), 0, kGroup) != 0) GTEST_SKIP() << "only root gives a file away";
  ASSERT_EQ(::chmod(path().c_str(), 0660), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become anybody else here";
  const SensorRefusal refusal = refused();
  EXPECT_THAT(refusal.reason, HasSubstr("members of the group 54321"));
  EXPECT_THAT(refusal.remedy, HasSubstr("usermod -aG 54321"));
}

TEST_F(DaemonProbe, NobodyIsAskedToJoinTheGroupRoot) {
  serve();
  ASSERT_EQ(::chmod(path().c_str(), 0600), 0);  // root's group remains that of "nobody" here
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become anybody else here";
  if (::geteuid() != 65534) GTEST_SKIP() << "not root: the socket is this user's own";
  const SensorRefusal refusal = refused();
  EXPECT_THAT(refusal.reason, HasSubstr("only root may ask the daemon"));
  EXPECT_THAT(refusal.proof, AllOf(HasSubstr("Permission denied"), HasSubstr("0600")));
  EXPECT_THAT(refusal.remedy, AllOf(HasSubstr("--socket-group wattle"), Not(HasSubstr("usermod"))));
  EXPECT_EQ(refusal.denied_path, path());
}

TEST_F(DaemonProbe, WhatTheDaemonRefusesIsReported) {
  const struct {
    int status;
    const char* reason;
    const char* remedy;
  } cases[] = {{401, "requires a token", "WATTLE_TOKEN"},
               {403, "does not permit", "cpu-read"},
               {404, "does not serve CPU energy", "--enable"},
               {500, "cannot read the counters itself", "journalctl"},
               {200, "unexpected reply from the daemon", "WATTLE_SOCK_PATH"}};
  serve();
  for (const auto& each : cases) {
    tell(R"({"error":"as it says"})", each.status);
    const SensorRefusal refusal = refused();
    EXPECT_THAT(refusal.reason, HasSubstr(each.reason));
    EXPECT_THAT(refusal.remedy, HasSubstr(each.remedy));
    EXPECT_THAT(refusal.proof, AllOf(HasSubstr("as it says"), HasSubstr(path())));
  }
}

TEST_F(DaemonProbe, ATokenIsShownToTheDaemonAndToNobodyElse) {
  serve();
  tell(R"({"error":"Invalid token"})", 401);
  System machine = system();
  machine.daemon_token = "secret";
  const SensorRefusal refusal = refused(machine);
  EXPECT_EQ(server_->requests().at(0).field("Authorization"), "Bearer secret");
  EXPECT_THAT(refusal.reason, HasSubstr("does not take this token"));
  machine.daemon_token = "secret\r\nX: y";
  for (const SensorRefusal& each : {refusal, refused(machine)}) {
    EXPECT_THAT(each.reason + each.proof + each.remedy, Not(HasSubstr("secret")));
  }
}

TEST_F(DaemonProbe, ADaemonWithoutCpusIsRefused) {
  serve();
  for (const char* body : {"{}", R"({"0":{"cpu_energy_uj":null,"dram_energy_uj":null}})"}) {
    tell(body);
    EXPECT_THAT(refused().reason, HasSubstr("no CPU whose energy")) << body;
  }
}

TEST_F(DaemonProbe, WhoIsNoDaemonIsRefused) {
  serve([](const auto&, auto& peer) {
    peer.send("SSH-2.0-x\r\n");
    peer.close();
  });
  EXPECT_THAT(refused().reason, HasSubstr("does not belong to wattled or zeusd"));
}

TEST_F(DaemonProbe, WhoSaysNothingIsGivenUp) {
  serve([](const auto&, auto& peer) { peer.stall(); });
  EXPECT_THAT(refused().reason, HasSubstr("does not answer in time"));
}

TEST_F(DaemonProbe, APathThatNoSocketCanHaveIsRefused) {
  System machine;
  machine.daemon_socket = "/" + std::string(200, 'p');
  EXPECT_THAT(refused(machine).reason, HasSubstr("too long"));
}

}  // namespace
}  // namespace wattle::daemon_source
