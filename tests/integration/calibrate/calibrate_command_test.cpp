// The sensors of a recorded run against the log of a meter, with the built program.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "base/files/state_folder.hpp"
#include "calibration/kept_calibration.hpp"
#include "command.hpp"
#include "fakes/powercap_tree.hpp"
#include "meter_world.hpp"

namespace wattle::integration {
namespace {

using test::meter_world;
using test::MeterWorld;
using test::WrongSensor;
using testing::HasSubstr;
using testing::Not;

class Calibrate : public CommandTest {
 protected:
  /// A file of `wattle run --series`.
  void write_series(const std::vector<RecordedDomainPower>& domains) const {
    std::ofstream file(path("run.csv"));
    file << "time_unix_s,elapsed_s,domain,power_w,utilization_percent,memory_used_bytes,"
            "temperature_celsius,clock_hz\n";
    for (const RecordedDomainPower& domain : domains) {
      for (const PowerStep& step : domain.power.steps()) {
        file << fmt::format("{:.6f},{:.6f},{},{:.3f},,,,\n", step.end_s,
                            step.end_s - domain.power.begin_s(), domain.name, step.power_w);
      }
    }
  }
  /// A log of a meter; `row` makes a line of each sample.
  void write_meter(const std::string& titles, const std::vector<MeterSample>& samples,
                   const std::function<std::string(const MeterSample&)>& row) const {
    std::ofstream file(path("meter.csv"));
    file << titles << '\n';
    for (const MeterSample& sample : samples) file << row(sample) << '\n';
  }
  void write(const MeterWorld& world) const {
    write_series(world.domains);
    write_meter("time,power [W]", world.meter, [](const MeterSample& sample) {
      return fmt::format("{:.3f},{:.1f}", sample.time_s, sample.power_w);
    });
  }
  [[nodiscard]] Outcome calibrate(const Words& options) const {
    Start start =
        wattle(Words{"calibrate", "--meter", path("meter.csv")} + options + Words{path("run.csv")});
    start.environment = {{"XDG_STATE_HOME", path("state").string()}};
    return run(start);
  }
  [[nodiscard]] bool is_kept() const {
    return std::filesystem::exists(path("state") / "wattle/calibration");
  }
};

TEST_F(Calibrate, FindsGainsAndKeepsThem) {
  const MeterWorld world = meter_world(3, {});
  write(world);
  const Outcome outcome = calibrate({"--json"});
  ASSERT_EQ(outcome.code(), 0) << outcome.out << outcome.err;
  const Json json = parse_json(outcome.out);
  EXPECT_EQ(json["schema"], "wattle.calibrate/1");
  EXPECT_NEAR(json["meter_shift_s"].get<double>(), world.shift_s, 0.3);
  ASSERT_EQ(json["domains"].size(), 5U);
  EXPECT_EQ(json["domains"][3]["verdict"], "agrees") << json.dump(1);
  EXPECT_GT(json["domains"][3]["calibration_percent"].get<double>(), 0.0);
  EXPECT_FALSE(json["total_j"].is_null());
  const std::filesystem::path kept = json["kept"].get<std::string>();
  ASSERT_TRUE(std::filesystem::exists(kept)) << kept;
  EXPECT_EQ(parse_json(content_of(kept))["schema"], "wattle.calibration/1");
}

TEST_F(Calibrate, NamesTheWrongSensorInText) {
  const MeterWorld world = meter_world(5, {.wrong = WrongSensor::unit});
  write(world);
  const Outcome outcome = calibrate({"--no-keep"});
  EXPECT_EQ(outcome.code(), 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("disagrees"));
  EXPECT_THAT(outcome.out, HasSubstr("1000 times too"));
  EXPECT_FALSE(is_kept());
}

TEST_F(Calibrate, ReadsOtherUnitsTimesAndColumns) {
  const MeterWorld world = meter_world(3, {});
  write_series(world.domains);
  write_meter("ms;volts;psu 1 (kW);psu 2 (kW)", world.meter, [](const MeterSample& sample) {
    return fmt::format("{:.0f};230;{:.5f};0", sample.time_s * 1000.0, sample.power_w / 1000.0);
  });
  const Outcome refused = calibrate({});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_THAT(refused.err, HasSubstr("choose one with --column: volts, psu 1 (kW), psu 2 (kW)"));
  const Outcome outcome = calibrate({"--column", "psu 1", "--json"});
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
}

TEST_F(Calibrate, MovesALogOfSecondsFromAnyStart) {
  const MeterWorld world = meter_world(3, {});
  write_series(world.domains);
  const double begin_s = world.meter.front().time_s;
  write_meter("t,power", world.meter, [begin_s](const MeterSample& sample) {
    return fmt::format("{:.3f},{:.1f}", sample.time_s - begin_s, sample.power_w);
  });
  const Outcome outcome = calibrate({"--json"});
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json json = parse_json(outcome.out);
  EXPECT_TRUE(json["meter_shift_s"].is_null());
  EXPECT_EQ(json["domains"][3]["verdict"], "agrees");
}

TEST_F(Calibrate, SaysThatAnEmptyFileIsEmpty) {
  write_series(meter_world(3, {}).domains);
  std::ofstream(path("meter.csv"));
  const Outcome outcome = calibrate({});
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("it is empty"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Calibrate, SaysThatTimesDoNotOverlap) {
  MeterWorld world = meter_world(3, {});
  for (MeterSample& sample : world.meter) sample.time_s += 7200.0;
  write(world);
  const Outcome outcome = calibrate({});
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("do not overlap"));
  EXPECT_THAT(outcome.err, HasSubstr("--shift 7"));
  EXPECT_EQ(calibrate({"--shift", "7200"}).code(), 0);
}

TEST_F(Calibrate, GivesNoNumberForAConstantLoad) {
  MeterWorld world = meter_world(3, {});
  for (RecordedDomainPower& domain : world.domains) {
    std::vector<PowerStep> steps = domain.power.steps();
    for (PowerStep& step : steps) step.power_w = 50.0;
    domain.power = PowerCurve(std::move(steps));
  }
  write(world);
  const Outcome outcome = calibrate({"--json"});
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("run a load that varies"));
  const Json json = parse_json(outcome.out);
  EXPECT_TRUE(json["total_j"].is_null());
  EXPECT_TRUE(json["offset_w"].is_null());
  EXPECT_FALSE(is_kept());
}

TEST_F(Calibrate, DoubtsAMeterOfAnotherUnit) {
  MeterWorld world = meter_world(3, {});
  for (MeterSample& sample : world.meter) sample.power_w *= 1000.0;
  write(world);
  const Outcome outcome = calibrate({});
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.err, HasSubstr("--unit"));
  EXPECT_EQ(calibrate({"--unit", "mW"}).code(), 0);
}

TEST_F(Calibrate, GivesLaterRunsTheErrorOfTheirSensors) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-0");
  const KeptCalibration kept{.host = this_host(),
                             .taken_unix_s = 1790000000.0,
                             .meter = "pdu.csv",
                             .sensors = {{"package_0", 18.42, {1.12, 0.03}}}};
  const std::filesystem::path file = path("state") / "wattle/calibration" / (kept.host + ".json");
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << to_json(kept);
  const System system = tree.system();
  // 40 W for 0.3 s.
  Start start = wattle_run({"--json", path("run.json"), "--sysfs", system.sysfs, "--procfs",
                            system.procfs, "--gpus", "none"},
                           {player_program(), "300", tree.zone_path("intel-rapl:0"), "40",
                            "6.103515625e-05", "61035", "0"});
  start.environment = {{"XDG_STATE_HOME", path("state").string()}};
  const Outcome outcome = run(start);
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json domain = parse_json(content_of(path("run.json")))["energy"]["domains"][0];
  EXPECT_EQ(domain["name"], "package_0");
  EXPECT_EQ(domain["calibration_percent"], 18.5);
  EXPECT_EQ(domain["calibration_source"], "compared with pdu.csv on 2026-09-21");
  EXPECT_THAT(outcome.err, HasSubstr("sensor ±19 %"));
}

TEST_F(Calibrate, RefusesWrongOptions) {
  const auto code_of = [](const Words& words) { return run(wattle(words)).code(); };
  EXPECT_EQ(code_of({"calibrate"}), kUsage);
  EXPECT_EQ(code_of({"calibrate", "--meter", "m.csv"}), kUsage);
  EXPECT_EQ(code_of({"calibrate", "--meter", "m", "--unit", "hp", "r"}), kUsage);
  EXPECT_EQ(code_of({"calibrate", "--meter", "m", "--shift", "x", "r"}), kUsage);
  EXPECT_EQ(code_of({"calibrate", "--meter", "m", "--efficiency", "20", "r"}), kUsage);
  const Outcome missing = run(wattle({"calibrate", "--meter", path("no"), path("no2")}));
  EXPECT_EQ(missing.code(), 2);
  EXPECT_THAT(missing.err, HasSubstr("No such file"));
}

}  // namespace
}  // namespace wattle::integration
