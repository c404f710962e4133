// What was spent in the past, as the daemon tells it.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

double unix_now() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

class DaemonEnergy : public DaemonTest {
 protected:
  [[nodiscard]] static std::string window(double from, double to) {
    return "/api/v1/energy?from=" + std::to_string(from) + "&to=" + std::to_string(to);
  }
  /// What is said of a domain; null where nothing is.
  [[nodiscard]] static Json of(const HttpAnswer& answer, std::string_view domain) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    const Json json = parse_json(answer.body);
    for (const Json& each : json["domains"]) {
      if (each["domain"] == domain) return each;
    }
    return nullptr;
  }
  void wait_until(double unix_s) const {
    ASSERT_TRUE(eventually([&] { return unix_now() > unix_s; }));
  }
};

TEST_F(DaemonEnergy, IsNotThereWithoutAHistory) {
  serve();
  const HttpAnswer answer = get("/api/v1/energy?from=1&to=2");
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("--history SECONDS"));
}

TEST_F(DaemonEnergy, IsThatOfTheWindow) {
  play(100.0);
  serve({"--history", "60"});
  const std::array expected = {std::pair("package_0", 200.0), std::pair("package_1", 200.0),
                               std::pair("dram_0", 200.0), std::pair("nvidia_gpu_0", 150.0),
                               std::pair("nvidia_gpu_1", 240.0)};
  // The player of packages and DRAM is a process in real time: what it plays lags when the machine
  // is busy. What nobody read in time is unknown. So this takes the first window in which both kept
  // up. The GPUs' energy is by the clock: it is right in each window.
  constexpr int kWindows = 5;
  constexpr double kMostUnknownS = 0.2;
  constexpr double kMostError = 0.1;
  HttpAnswer answer;
  const auto kept_up = [&](const auto& pair) {
    const Json found = of(answer, pair.first);
    return found.is_object() && found["energy_j"].is_number() &&
           (std::string_view(pair.first).starts_with("nvidia") ||
            std::abs(found["energy_j"].template get<double>() - pair.second) <
                kMostError * pair.second) &&
           found["unknown_s"].template get<double>() <= kMostUnknownS;
  };
  for (int i = 0; i < kWindows; ++i) {
    const double from = unix_now() + 0.3;
    wait_until(from + 2.5);
    answer = get(window(from, from + 2.0));
    if (std::ranges::all_of(expected, kept_up)) break;
  }
  EXPECT_THAT(answer.body, HasSubstr(R"({"schema":"wattled.energy/1","from":)"));
  for (const auto& [domain, joules] : expected) {
    const Json found = of(answer, domain);
    ASSERT_FALSE(found.is_null()) << domain << answer.body;
    ASSERT_TRUE(found["energy_j"].is_number()) << found;
    EXPECT_NEAR(found["energy_j"].get<double>(), joules, kMostError * joules) << found;
    EXPECT_GT(found["uncertainty_j"].get<double>(), 0.0) << found;
    EXPECT_NEAR(found["unknown_s"].get<double>(), 0.0, kMostUnknownS) << found;
    EXPECT_TRUE(found["flags"].is_array());
  }
}

TEST_F(DaemonEnergy, OfAGaugeThatSeesAPartOfTheTimeIsFlaggedInAllItsAnswers) {
  serve({"--history", "60"}, kPartialGauge);
  const double from = unix_now();
  Json energy;
  ASSERT_TRUE(eventually([&] {
    energy = of(get(window(from, from + 1.0)), "nvidia_gpu_0");
    return energy.is_object() && energy["energy_j"].is_number() && energy["energy_j"] > 100.0;
  })) << energy;
  EXPECT_THAT(energy["flags"], testing::Contains("partial_coverage"));
  EXPECT_GT(energy["uncertainty_j"], 0.0);
  EXPECT_TRUE(energy["common_j"].is_number());
  const std::string power = "/api/v1/power?from=" + std::to_string(from) + "&to=1e11";
  EXPECT_THAT(of(get(power), "nvidia_gpu_0")["flags"], testing::Contains("partial_coverage"));
}

TEST_F(DaemonEnergy, IsDividedAmongUnitsOfWork) {
  play(100.0);
  serve({"--history", "60"});
  // All devices have been read.
  ASSERT_TRUE(eventually([&] {
    const HttpAnswer answer = get(window(unix_now() - 0.6, unix_now() - 0.3));
    return std::ranges::all_of(parse_json(answer.body)["domains"],
                               [](const Json& domain) { return domain["energy_j"].is_number(); });
  }));
  const auto post = [&](const std::string& target) { return client().ask("POST", target); };
  const Json started = parse_json(post("/api/v1/units/start?tag=a%1b&weight=2").body);
  const std::string id = started["id"];
  EXPECT_EQ(post("/api/v1/units/start?tag=a%1b&id=" + id).status, 409);
  EXPECT_EQ(post("/api/v1/units/start?tag=a&weight=0").status, 400);
  EXPECT_EQ(post("/api/v1/units/start?tag=&id=1").status, 400);
  EXPECT_EQ(post("/api/v1/units/start?tag=a&id=1&timeout_s=nan").status, 400);
  EXPECT_EQ(post("/api/v1/units/end?tag=b&id=1").status, 404);
  EXPECT_EQ(post("/api/v1/units/end?tag=a%1b&work=5&id=" + id).status, 200);
  Json units;
  // On a busy machine a reading may come late: the energy of a unit is unknown then. Another one.
  for (int ended = 1; ended <= 5; ++ended) {
    ASSERT_TRUE(eventually([&] {
      units = parse_json(get("/api/v1/units").body)["units"];
      return !units["tags"].empty() &&
             units["tags"][0]["count"].get<int>() + units["tags"][0]["unknown"].get<int>() == ended;
    })) << units;
    if (units["tags"][0]["count"] == 1) break;
    post("/api/v1/units/start?tag=a%1b&weight=2&id=" + id);
    post("/api/v1/units/end?tag=a%1b&work=5&id=" + id);
  }
  ASSERT_EQ(units["tags"][0]["count"], 1) << units;
  ASSERT_EQ(units["tags"].size(), 1U) << units;
  EXPECT_EQ(units["tags"][0]["work"], 5.0);
  EXPECT_EQ(units["domains"].size(), 5U) << "two packages, a DRAM, two GPUs";
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("# TYPE wattle_unit_energy_joules histogram\n"));
  EXPECT_EQ(tcp_client().ask("POST", "/api/v1/units/start?tag=a").status, 403);
  EXPECT_EQ(get_tcp("/api/v1/units").status, 403) << "CPU energy is rounded there";
  EXPECT_THAT(get_tcp("/metrics").body, testing::Not(HasSubstr("wattle_unit")));
  EXPECT_THAT(metrics, HasSubstr(R"(wattle_unit_work_total{tag="a\\x1b"} 5)"));
}

TEST_F(DaemonEnergy, OfUnitsIsNotThereWithoutAHistory) {
  serve();
  EXPECT_EQ(get("/api/v1/units").status, 404);
  EXPECT_EQ(client().ask("POST", "/api/v1/units/start?tag=a").status, 404);
  EXPECT_THAT(get("/metrics").body, testing::Not(HasSubstr("wattle_unit")));
}

TEST_F(DaemonEnergy, OfBeforeItBeganIsUnknownAndHasAReason) {
  serve({"--history", "60"});
  const Json told = of(get("/api/v1/energy?from=1000&to=1010"), "package_0");
  EXPECT_TRUE(told["energy_j"].is_null()) << told;
  EXPECT_TRUE(told["uncertainty_j"].is_null());
  EXPECT_THAT(told["reason"].get<std::string>(), HasSubstr("was not read"));
}

TEST_F(DaemonEnergy, OfBeforeWhatIsKeptIsUnknown) {
  play(100.0);
  serve({"--history", "1"});
  const double from = unix_now();
  wait_until(from + 3.0);
  const Json told = of(get(window(from, from + 3.0)), "package_0");
  EXPECT_THAT(told["flags"], testing::Contains("gap"));
  EXPECT_GT(told["unknown_s"].get<double>(), 1.5) << told;
}

TEST_F(DaemonEnergy, OfTheFutureIsUnknown) {
  serve({"--history", "60"});
  const double from = unix_now() + 1000.0;
  const Json told = of(get(window(from, from + 10.0)), "package_0");
  EXPECT_TRUE(told["energy_j"].is_null()) << told;
}

TEST_F(DaemonEnergy, MayBeTheAnswerToAnotherCaller) {
  play(100.0);
  serve({"--history", "60"});
  const double from = unix_now();
  const std::string open = window(from, from + 1000.0);
  const std::string shared = open + "&max_age=60";
  ASSERT_TRUE(eventually([&] { return of(get(open), "package_0")["energy_j"].is_number(); }));
  const std::string first = get(shared).body;
  ASSERT_TRUE(eventually([&] { return get(open).body != first; }))
      << "who does not ask for it gets a new one";
  EXPECT_EQ(get(shared).body, first);
  EXPECT_NE(get_tcp(shared).body, first) << "the Unix socket shows more";
}

TEST_F(DaemonEnergy, NeedsAWindow) {
  serve({"--history", "60"});
  for (const char* const query :
       {"", "?from=1", "?to=1", "?from=2&to=1", "?from=1&to=1", "?from=x&to=2", "?from=nan&to=2",
        "?from=-1&to=2", "?from=1&to=1e300", "?from=1&to=2&x=3", "?from=1&from=1&to=2",
        "?from=%zz&to=2", "?from=1,5&to=2", "?from=&to="}) {
    EXPECT_EQ(get(std::string("/api/v1/energy") + query).status, 400) << query;
  }
}

TEST_F(DaemonEnergy, IsInWholeJoulesForStrangers) {
  play(100.0);
  serve({"--history", "60"});
  const double from = std::ceil(unix_now()) + 0.7;
  wait_until(from + 2.5);
  const HttpAnswer answer = get_tcp(window(from, from + 1.9));
  const Json json = parse_json(answer.body);
  // The ends too.
  EXPECT_EQ(json["from"].get<double>(), std::floor(from));
  EXPECT_EQ(json["to"].get<double>(), std::floor(from + 1.9));
  const Json told = of(answer, "package_0");
  ASSERT_TRUE(told["energy_j"].is_number()) << told;
  const double joules = told["energy_j"].get<double>();
  EXPECT_EQ(joules, std::floor(joules));
  EXPECT_NEAR(joules, 200.0, 20.0);
  const double doubt = told["uncertainty_j"].get<double>();
  EXPECT_EQ(doubt, std::floor(doubt));
}

TEST_F(DaemonEnergy, NeedsTheScopesOfAllThatIsServed) {
  const std::string key = key_file("wattled-energy-test-signing-key-0001");
  serve({"--history", "60", "--signing-key-path", key});
  const auto ask = [&](const std::string& bearer) {
    return get("/api/v1/energy?from=1&to=2",
               bearer.empty() ? bearer : "Authorization: Bearer " + bearer + "\r\n")
        .status;
  };
  EXPECT_EQ(ask(""), 401);
  EXPECT_EQ(ask(token("a", "cpu-read")), 403);
  EXPECT_EQ(ask(token("a", "gpu-read")), 403);
  EXPECT_EQ(ask(token("a", "cpu-read,gpu-read")), 200);
}

TEST_F(DaemonEnergy, OfAGroupThatIsOffIsNotReported) {
  serve({"--history", "60", "--enable", "gpu-read"});
  const HttpAnswer answer = get("/api/v1/energy?from=1&to=2");
  EXPECT_TRUE(of(answer, "package_0").is_null());
  EXPECT_FALSE(of(answer, "nvidia_gpu_0").is_null());
}

TEST_F(DaemonEnergy, OfAGpuThatHangsIsUnknownAndOthersAreNot) {
  serve({"--history", "60"},
        "gpu A\npower step 0 75\nhang nvmlDeviceGetFieldValues from 1.5\n"
        "gpu B\npower step 0 80\n");
  const double from = unix_now() + 3.0;
  wait_until(from + 2.0);
  const HttpAnswer answer = get(window(from, from + 1.5));
  const Json stuck = of(answer, "nvidia_gpu_0");
  EXPECT_GT(stuck["unknown_s"].get<double>(), 0.5) << stuck;
  const Json other = of(answer, "nvidia_gpu_1");
  const double doubt_j = std::max(6.0, other["uncertainty_j"].get<double>());
  EXPECT_NEAR(other["energy_j"].get<double>(), 120.0, doubt_j) << answer.body;
}

}  // namespace
}  // namespace wattle::integration
