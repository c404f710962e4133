#include "wire/event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/message_json.hpp"

namespace wattle::wire {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EventParsing : public testing::Test {
 protected:
  /// What is in an event that is taken.
  PowerEvent taken(DeviceType type, std::string_view json) {
    const auto event = parser_.parse(type, json);
    EXPECT_TRUE(event) << json << ": " << parser_.refusal();
    return event.value_or(PowerEvent{});
  }
  std::string refusal(DeviceType type, std::string_view json) {
    EXPECT_FALSE(parser_.parse(type, json)) << json;
    return std::string(parser_.refusal());
  }
  std::string gpu_refusal(std::string_view json) { return refusal(DeviceType::gpu, json); }
  std::string cpu_refusal(std::string_view json) { return refusal(DeviceType::cpu, json); }

  EventParser parser_;
};

TEST_F(EventParsing, UnderstandsAGpuEvent) {
  const auto event = taken(DeviceType::gpu, encode_event(1762000000123, 3, 75000));
  EXPECT_EQ(event.timestamp_ms, 1762000000123.0);
  EXPECT_FALSE(event.is_snapshot);
  EXPECT_THAT(event.devices, ElementsAre(DevicePower{.id = 3, .power_mw = 75000.0}));
}

TEST_F(EventParsing, UnderstandsACpuEventWithAndWithoutMemory) {
  const CpuPower power{.cpu_mw = 85000, .dram_mw = 12000};
  EXPECT_THAT(taken(DeviceType::cpu, encode_event(1, 0, power)).devices,
              ElementsAre(DevicePower{.power_mw = 85000.0, .dram_mw = 12000.0}));
  EXPECT_THAT(taken(DeviceType::cpu, encode_event(1, 1, CpuPower{.cpu_mw = 1})).devices,
              ElementsAre(DevicePower{.id = 1, .power_mw = 1.0}));
  EXPECT_THAT(taken(DeviceType::cpu, R"({"timestamp_ms":1,"cpu_id":1})").devices,
              ElementsAre(DevicePower{.id = 1}));
}

TEST_F(EventParsing, UnderstandsASnapshotOfGpus) {
  const auto event = taken(DeviceType::gpu, encode(GpuPowersAt{5, {{0, 75000}, {12, 120000}}}));
  EXPECT_TRUE(event.is_snapshot);
  EXPECT_THAT(event.devices, ElementsAre(DevicePower{.id = 0, .power_mw = 75000.0},
                                         DevicePower{.id = 12, .power_mw = 120000.0}));
}

TEST_F(EventParsing, UnderstandsASnapshotOfCpus) {
  const auto json = encode(CpuPowersAt{5, {{0, {85000, 12000}}, {1, {80000, std::nullopt}}}});
  EXPECT_THAT(taken(DeviceType::cpu, json).devices,
              ElementsAre(DevicePower{.id = 0, .power_mw = 85000.0, .dram_mw = 12000.0},
                          DevicePower{.id = 1, .power_mw = 80000.0}));
}

TEST_F(EventParsing, UnderstandsASnapshotOfNothing) {
  const auto event = taken(DeviceType::gpu, R"({"timestamp_ms":5,"power_mw":{}})");
  EXPECT_TRUE(event.is_snapshot);
  EXPECT_THAT(event.devices, IsEmpty());
}

TEST_F(EventParsing, RecognizesTheGenerationOfEachEventByItself) {
  EXPECT_FALSE(taken(DeviceType::gpu, encode_event(1, 0, 1)).is_snapshot);
  EXPECT_TRUE(taken(DeviceType::gpu, encode(GpuPowersAt{2, {{0, 2}}})).is_snapshot);
  EXPECT_FALSE(taken(DeviceType::gpu, encode_event(3, 0, 3)).is_snapshot);
}

TEST_F(EventParsing, PassesOverWhatItDoesNotKnow) {
  const auto event = taken(DeviceType::gpu, R"( {"new":{"a":[1,{"b":null}]},"power_mw":1.5,
      "gpu_id":0,"timestamp_ms":7,"name":"\u00e9\n","more":-1e300} )");
  EXPECT_THAT(event.devices, ElementsAre(DevicePower{.power_mw = 1.5}));
}

TEST_F(EventParsing, RefusesWhatIsNoObject) {
  EXPECT_EQ(gpu_refusal("5"), "is not a JSON object");
  EXPECT_EQ(gpu_refusal("[1]"), "is not a JSON object");
  EXPECT_EQ(gpu_refusal("null"), "is not a JSON object");
  for (const char* text : {"", " ", "{", "nonsense", "{}{}", "{\"a\":}", "\xff\xfe", "NaN"}) {
    EXPECT_EQ(gpu_refusal(text), "is not JSON") << text;
  }
}

TEST_F(EventParsing, RefusesPowersThatCannotBe) {
  for (const char* power :
       {"\"75000\"", "-1", "-0.5", "NaN", "1e400", "9223372036854775808", "18446744073709551616",
        "true", "[1]", "null", "1e13", "{\"0\":\"1\"}", "{\"0\":-1}", "{\"0\":{\"1\":2}}",
        "{\"-1\":5}", "{\"one\":5}", "{\"4294967296\":5}", "{\"\":5}"}) {
    gpu_refusal(std::string(R"({"timestamp_ms":1,"gpu_id":0,"power_mw":)") + power + "}");
  }
  for (const char* power : {"\"1\"", "-1", "9223372036854775808", "true", "{}"}) {
    const std::string text = power;
    cpu_refusal(R"({"timestamp_ms":1,"cpu_id":0,"cpu_mw":)" + text + "}");
    cpu_refusal(R"({"timestamp_ms":1,"cpu_id":0,"cpu_mw":1,"dram_mw":)" + text + "}");
    cpu_refusal(R"({"timestamp_ms":1,"power_mw":{"0":{"cpu_mw":)" + text + "}}}");
  }
  cpu_refusal(R"({"timestamp_ms":1,"power_mw":{"0":75000}})");
}

TEST_F(EventParsing, RefusesTimesAndIndicesThatCannotBe) {
  for (const char* time : {"\"1\"", "-1", "1e300", "null", "9223372036854775808", "{}"}) {
    EXPECT_EQ(gpu_refusal(std::string(R"({"gpu_id":0,"power_mw":1,"timestamp_ms":)") + time + "}"),
              "has no 'timestamp_ms' that is a time");
  }
  EXPECT_EQ(gpu_refusal(R"({"gpu_id":0,"power_mw":1})"), "has no 'timestamp_ms' that is a time");
  for (const char* id : {"\"0\"", "-1", "0.5", "4294967296", "null", "[0]"}) {
    EXPECT_EQ(gpu_refusal(std::string(R"({"timestamp_ms":1,"power_mw":1,"gpu_id":)") + id + "}"),
              "has no 'gpu_id' that is an index");
  }
  EXPECT_EQ(cpu_refusal(R"({"timestamp_ms":1,"gpu_id":0,"power_mw":1})"),
            "has no 'cpu_id' that is an index");
}

TEST_F(EventParsing, RefusesTheYear10000InEventsOfEachFormAndTakesTheMomentBefore) {
  const auto forms_at = [](const std::string& time) {
    const std::string begin = R"({"timestamp_ms":)" + time;
    return std::vector<std::pair<DeviceType, std::string>>{
        {DeviceType::gpu, begin + R"(,"gpu_id":0,"power_mw":1})"},
        {DeviceType::gpu, begin + R"(,"power_mw":{"0":1}})"},
        {DeviceType::cpu, begin + R"(,"cpu_id":0,"cpu_mw":1})"},
        {DeviceType::cpu, begin + R"(,"power_mw":{"0":{"cpu_mw":1}}})"}};
  };
  for (const auto& [type, event] : forms_at("253402300800000")) {
    EXPECT_FALSE(parser_.parse(type, event)) << event;
    EXPECT_EQ(parser_.refusal(), "has no 'timestamp_ms' that is a time") << event;
  }
  for (const auto& [type, event] : forms_at("253402300799999")) {
    EXPECT_TRUE(parser_.parse(type, event)) << event;
  }
}

TEST_F(EventParsing, RefusesWhatIsNestedWithoutEnd) {
  EXPECT_EQ(gpu_refusal(std::string(100'000, '[')), "is not JSON");
  EXPECT_EQ(gpu_refusal(std::string(5000, '[') + std::string(5000, ']')), "is not JSON");
}

TEST_F(EventParsing, GoesOnAfterARefusal) {
  gpu_refusal("{");
  EXPECT_EQ(taken(DeviceType::gpu, encode_event(9, 0, 5)).timestamp_ms, 9.0);
}

}  // namespace
}  // namespace wattle::wire
