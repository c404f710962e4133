// The daemon and its clients on a machine without sensors: they estimate nothing, and show nothing.
#include "daemon.hpp"
#include "no_energy.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

class DaemonWithoutSensors : public DaemonTest {
 protected:
  void SetUp() override {
    serve({"--sysfs", path("no_sysfs"), "--nvml-library", path("none.so")}, "");
  }
  [[nodiscard]] Outcome stream(const Words& options) const {
    return run(wattle(Words{"stream", "unix:" + socket()} + options));
  }
};

TEST_F(DaemonWithoutSensors, HasMetricsOfNoEnergy) {
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("wattle_sensor_refused_info{"));
  expect_no_energy_in_metrics(metrics, "/metrics");
}

TEST_F(DaemonWithoutSensors, AnswersWithNoEnergy) {
  for (const char* const target :
       {"/discover", "/gpu/get_cumulative_energy", "/cpu/get_cumulative_energy"}) {
    const HttpAnswer answer = get(target);
    EXPECT_NE(answer.status, 0) << target;
    if (Json::accept(answer.body)) expect_no_energy_in_json(answer.body, target);
    expect_no_energy_in_text(without_name(answer.body, folder_.path()), target);
  }
}

TEST_F(DaemonWithoutSensors, HasNothingToStream) {
  for (const Words& options : {Words{}, Words{"--json"}, Words{"--energy"}}) {
    const Outcome outcome = stream(options);
    EXPECT_EQ(outcome.out, "");
    expect_no_energy_in_text(without_name(outcome.err, folder_.path()), "stream");
    EXPECT_NE(outcome.code(), 0);
  }
}

}  // namespace
}  // namespace wattle::integration
