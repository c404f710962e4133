#include "calibration/kept_calibration.hpp"

#include <gtest/gtest.h>

#include "base/files/state_folder.hpp"

namespace wattle {
namespace {

KeptCalibration sample() {
  return {.host = "n1",
          .taken_unix_s = 1790000000.0,
          .meter = "pdu.csv",
          .sensors = {{"package_0", 18.5, {1.12, 0.03}}}};
}

TEST(KeptCalibration, IsReadAsItWasWritten) {
  const auto read = parse_calibration(to_json(sample()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->host, "n1");
  EXPECT_EQ(read->sensors, sample().sensors);
  EXPECT_EQ(source_text(*read), "compared with pdu.csv on 2026-09-21");
}

TEST(KeptCalibration, RefusesWhatIsNone) {
  EXPECT_FALSE(parse_calibration(""));
  EXPECT_FALSE(parse_calibration("{}"));
  KeptCalibration empty = sample();
  empty.sensors.clear();
  EXPECT_FALSE(parse_calibration(to_json(empty)));
  KeptCalibration negative = sample();
  negative.sensors[0].error_percent = -1.0;
  EXPECT_FALSE(parse_calibration(to_json(negative)));
}

TEST(KeptCalibration, KeepsSensorsWhoseErrorIsKnown) {
  MeterCalibration calibration;
  calibration.domains = {
      {.name = "a", .verdict = SensorVerdict::agrees, .gain = CalibratedNumber{1.1, 0.02}},
      {.name = "b", .verdict = SensorVerdict::unknown},
      {.name = "c",
       .verdict = SensorVerdict::disagrees,
       .fault = SensorFault::stuck,
       .gain = CalibratedNumber{1.1, 0.02}}};
  const KeptCalibration kept = kept_of(calibration, {});
  ASSERT_EQ(kept.sensors.size(), 1U);
  EXPECT_EQ(kept.sensors[0].domain, "a");
}

TEST(KeptCalibration, MakesNoPathOfAHostsName) {
  EXPECT_EQ(host_state_file("calibration", "a/../b").find("a/"), std::string::npos);
}

}  // namespace
}  // namespace wattle
