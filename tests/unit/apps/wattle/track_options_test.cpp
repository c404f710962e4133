#include "monitor/track_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "parsed_line.hpp"

namespace wattle::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ParsedLine parse_track(std::vector<const char*> words) {
  words.insert(words.begin(), "track");
  return parse_words(std::move(words));
}

std::string track_error(const std::vector<const char*>& words) {
  const ParsedLine parsed = parse_track(words);
  const auto* answer = std::get_if<Answer>(&parsed);
  if (answer == nullptr || !answer->is_error) return "none";
  EXPECT_EQ(answer->exit_status, kUsageError);
  return answer->text;
}

TEST(TrackOptions, HaveGpuTrackersDefaults) {
  const ParsedLine parsed = parse_track({"--pid", "42"});
  const auto* track = options_in<TrackOptions>(parsed);
  ASSERT_NE(track, nullptr);
  EXPECT_EQ(track->tracker.process_id, 42);
  EXPECT_EQ(track->tracker.sleep_time, std::chrono::seconds(1));
  EXPECT_EQ(track->tracker.time_unit, "hours");
  EXPECT_FALSE(track->duration);
  EXPECT_FALSE(track->tracker.tracking_file);
}

TEST(TrackOptions, AreHandedToTheTracker) {
  const ParsedLine parsed = parse_track({"--pid",
                                         "42",
                                         "--duration",
                                         "2.5",
                                         "--sleep-time",
                                         "0.01",
                                         "--ram-unit",
                                         "bytes",
                                         "--gpu-ram-unit",
                                         "megabytes",
                                         "--time-unit",
                                         "days",
                                         "--expected-cores",
                                         "3",
                                         "--gpu-uuids",
                                         "a,b",
                                         "--gpu-brand",
                                         "amd",
                                         "--tracking-file",
                                         "t",
                                         "--usage-file",
                                         "u",
                                         "--overwrite",
                                         "--pss",
                                         "--json",
                                         "j"});
  const auto* track = options_in<TrackOptions>(parsed);
  ASSERT_NE(track, nullptr);
  EXPECT_EQ(track->duration, std::chrono::milliseconds(2500));
  EXPECT_EQ(track->json_path, "j");
  const TrackerOptions& tracker = track->tracker;
  EXPECT_EQ(tracker.sleep_time, std::chrono::milliseconds(10));
  EXPECT_EQ(tracker.ram_unit, "bytes");
  EXPECT_EQ(tracker.gpu_ram_unit, "megabytes");
  EXPECT_EQ(tracker.time_unit, "days");
  EXPECT_EQ(tracker.n_expected_cores, 3U);
  EXPECT_THAT(tracker.gpus.names(), ElementsAre("a", "b"));
  EXPECT_EQ(tracker.gpu_brand, "amd");
  EXPECT_EQ(tracker.tracking_file, "t");
  EXPECT_EQ(tracker.resource_usage_file, "u");
  EXPECT_TRUE(tracker.overwrite);
  EXPECT_TRUE(tracker.force_pss);
}

TEST(TrackOptions, ReportWhatIsWrong) {
  EXPECT_THAT(track_error({}), HasSubstr("--pid PID"));
  for (const char* pid : {"0", "-1", "x", "4294967295", "99999999999"}) {
    EXPECT_THAT(track_error({"--pid", pid}), HasSubstr("--pid takes")) << pid;
  }
  EXPECT_THAT(track_error({"--pid", "1", "--sleep-time", "0"}), HasSubstr("from 0.01"));
  EXPECT_THAT(track_error({"--pid", "1", "--expected-cores", "0"}), HasSubstr("from 1 on"));
  EXPECT_THAT(track_error({"--pid", "1", "--duration", "-1"}), HasSubstr("--duration takes"));
  EXPECT_THAT(track_error({"--pid", "1", "--gpu-uuids", ","}), HasSubstr("--gpu-uuids takes"));
  EXPECT_THAT(track_error({"--", "true"}), HasSubstr("unexpected argument true"));
  EXPECT_THAT(track_error({"--pid", "1", "--recover", "f"}), HasSubstr("--recover"));
  EXPECT_THAT(track_error({"--tracking-file", "t", "--recover", "f"}),
              HasSubstr("--tracking-file excludes --recover"));
}

}  // namespace
}  // namespace wattle::app
