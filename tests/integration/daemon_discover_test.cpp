// What /discover says of the caller's own rights, and what those without a key see of CPUs.
#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

class DaemonDiscover : public DaemonTest {
 protected:
  void serve_all(const Words& options = {}) {
    serve(Words{"--enable", "gpu-read,cpu-read,gpu-control", "--settings-journal",
                path("settings").string()} +
          options);
  }
  void serve_with_key() {
    serve_all({"--signing-key-path", key_file("a key of at least thirty-two bytes")});
  }
  [[nodiscard]] std::string bearer(std::string_view scopes) const {
    return "Authorization: Bearer " + token("alice", scopes) + "\r\n";
  }
  [[nodiscard]] std::uint64_t public_energy_uj() const {
    return parse_json(
        get_tcp("/cpu/get_cumulative_energy?cpu=true&dram=true").body)["0"]["cpu_energy_uj"];
  }
};

TEST_F(DaemonDiscover, GrantsWhatTheTokenPermits) {
  serve_with_key();
  for (const auto& [scopes, granted] : std::vector<std::pair<std::string, Json>>{
           {"gpu-read", {"gpu-read"}},
           {"cpu-read,gpu-control", {"gpu-control", "cpu-read"}},
           {"", Json::array()}}) {
    const Json found = parse_json(get_tcp("/discover", bearer(scopes)).body);
    EXPECT_EQ(found["granted_scopes"], granted) << scopes;
    EXPECT_EQ(found["enabled_api_groups"], Json({"gpu-control", "gpu-read", "cpu-read"}));
  }
}

TEST_F(DaemonDiscover, GrantsNothingWithoutAGoodToken) {
  serve_with_key();
  for (const char* const header : {"", "Authorization: Bearer x\r\n"}) {
    EXPECT_EQ(parse_json(get("/discover", header).body)["granted_scopes"], Json::array());
  }
}

TEST_F(DaemonDiscover, GrantsControlWithoutAKeyThroughTheSocketAlone) {
  serve_all();
  EXPECT_EQ(parse_json(get("/discover").body)["granted_scopes"],
            Json({"gpu-control", "gpu-read", "cpu-read"}));
  EXPECT_EQ(parse_json(get_tcp("/discover").body)["granted_scopes"],
            Json({"gpu-read", "cpu-read"}));
}

TEST_F(DaemonDiscover, GrantsNoGroupThatIsOff) {
  serve({"--enable", "cpu-read"});
  EXPECT_EQ(parse_json(get("/discover").body)["granted_scopes"], Json({"cpu-read"}));
}

TEST_F(DaemonDiscover, SaysWhyCpusAreShownInPartAndWhatToDo) {
  serve();
  const Json limit = parse_json(get_tcp("/discover").body)["cpu_limit"];
  EXPECT_EQ(limit["period_s"], 1.0);
  EXPECT_EQ(limit["quantum_j"], 1.0);
  EXPECT_THAT(limit["reason"].get<std::string>(), HasSubstr("any user of this machine can ask"));
  EXPECT_THAT(limit["remedy"].get<std::string>(), HasSubstr("--public-cpu-period"));
}

TEST_F(DaemonDiscover, SaysNothingOfThatToWhomAllIsShown) {
  serve();
  EXPECT_FALSE(parse_json(get("/discover").body).contains("cpu_limit"));
  serve_with_key();
  EXPECT_FALSE(parse_json(get_tcp("/discover", bearer("cpu-read")).body).contains("cpu_limit"));
  serve({"--enable", "gpu-read"});
  EXPECT_FALSE(parse_json(get_tcp("/discover").body).contains("cpu_limit")) << "nothing is shown";
}

TEST_F(DaemonDiscover, SaysWhatThatDoesToZeusMonitorAsTheLogDoes) {
  serve();
  const std::string effect = parse_json(get_tcp("/discover").body)["cpu_limit"]["effect"];
  EXPECT_THAT(effect, HasSubstr("ZeusMonitor"));
  EXPECT_THAT(effect, HasSubstr("a window shorter than 1 s can be 0 J"));
  EXPECT_TRUE(logs(HasSubstr(effect)));
  for (const Words& options : {Words{"--public-cpu-period", "0"}, Words{"--enable", "gpu-read"}}) {
    serve(options);
    EXPECT_THAT(log(), testing::Not(HasSubstr("ZeusMonitor")));
  }
  serve_with_key();
  EXPECT_THAT(log(), testing::Not(HasSubstr("ZeusMonitor")));
}

// Two answers may lie any time apart: what they differ by is the energy between their own times.
TEST_F(DaemonDiscover, PublicEnergiesHaveTheirOwnTimes) {
  play(50.0);
  serve({"--public-cpu-period", "0.2"});
  const auto ask = [&] {
    return parse_json(get_tcp("/cpu/get_cumulative_energy?cpu=true&dram=true").body)["1"];
  };
  const Json first = ask();
  Json last;
  const auto passed_ms = [&] {
    return last["timestamp_ms"].get<double>() - first["timestamp_ms"].get<double>();
  };
  ASSERT_TRUE(eventually([&] {
    last = ask();
    if (passed_ms() == 0) {
      EXPECT_EQ(last["cpu_energy_uj"], first["cpu_energy_uj"]);
    }
    return passed_ms() >= 1000;
  }));
  const double passed_uj =
      last["cpu_energy_uj"].get<double>() - first["cpu_energy_uj"].get<double>();
  // Two roundings of 0.2 J; the rest is for a player that comes late.
  EXPECT_NEAR(passed_uj / passed_ms() / 1000, 50.0, 5.0);
}

// The counter shows 6.103515 J.
TEST_F(DaemonDiscover, TheAdministratorSaysHowFinePublicEnergiesAre) {
  serve();
  EXPECT_EQ(public_energy_uj(), 6'000'000U);
  serve({"--public-cpu-period", "0.01"});
  EXPECT_EQ(public_energy_uj(), 6'100'000U);
  const Json limit = parse_json(get_tcp("/discover").body)["cpu_limit"];
  EXPECT_EQ(limit["period_s"], 0.01);
  EXPECT_EQ(limit["quantum_j"], 0.01);
}

TEST_F(DaemonDiscover, TheAdministratorTakesTheLimitAway) {
  serve({"--public-cpu-period", "0"});
  EXPECT_EQ(public_energy_uj(), 6'103'515U);
  EXPECT_FALSE(parse_json(get_tcp("/discover").body).contains("cpu_limit"));
}

}  // namespace
}  // namespace wattle::integration
