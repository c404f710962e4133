#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/message_json.hpp"

namespace wattle::wire {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// The decoded value; fails the test if there is none.
template <class Value>
Value good(const Decoded<Value>& decoded) {
  if (const auto* bad = std::get_if<Malformed>(&decoded)) {
    ADD_FAILURE() << bad->why;
    return {};
  }
  return std::get<Value>(decoded);
}

/// The reason of a refusal; fails the test if there is a value.
template <class Value>
std::string why(const Decoded<Value>& decoded) {
  const auto* const bad = std::get_if<Malformed>(&decoded);
  EXPECT_NE(bad, nullptr);
  return bad == nullptr ? "" : bad->why;
}

TEST(Decode, ADiscoveryOfTheNewGenerationReportsAllOfAGpu) {
  const Discovery found = good(decode_discovery(
      R"({"gpus":[{"id":0,"name":"NVIDIA A40","pci_address":"0000:01:00.0",)"
      R"("cumulative_energy_available":true,"domain":"nvidia_gpu_0"}],"cpus":[{"id":0,"dram_available":true},{"id":2}],)"
      R"("enabled_api_groups":["gpu-read"],"auth_required":true})"));
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus[0].name, "NVIDIA A40");
  EXPECT_EQ(found.gpus[0].pci_address, "0000:01:00.0");
  EXPECT_EQ(found.gpus[0].cumulative_energy_available, true);
  EXPECT_EQ(found.gpus[0].domain, "nvidia_gpu_0");
  ASSERT_EQ(found.cpus.size(), 2U);
  EXPECT_TRUE(found.cpus[0].dram_available);
  EXPECT_EQ(found.cpus[1].id, 2U);
  EXPECT_FALSE(found.cpus[1].dram_available);
  EXPECT_THAT(found.enabled_api_groups, ElementsAre("gpu-read"));
  EXPECT_TRUE(found.auth_required);
}

TEST(Decode, ADiscoveryOfTheOldGenerationReportsIdsAlone) {
  const Discovery found = good(decode_discovery(
      R"({"gpu_ids":[0,3],"cpu_ids":[0,1],"dram_available":[true],"auth_required":false})"));
  ASSERT_EQ(found.gpus.size(), 2U);
  EXPECT_EQ(found.gpus[1].id, 3U);
  EXPECT_EQ(found.gpus[1].cumulative_energy_available, std::nullopt);
  ASSERT_EQ(found.cpus.size(), 2U);
  EXPECT_TRUE(found.cpus[0].dram_available);
  EXPECT_FALSE(found.cpus[1].dram_available);
  EXPECT_THAT(found.enabled_api_groups, IsEmpty());
  EXPECT_FALSE(found.auth_required);
}

TEST(Decode, AGpuWithoutAddressAndCounterIsAGpu) {
  const Discovery found = good(decode_discovery(R"({"gpus":[{"id":1,"name":"Old"}]})"));
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus[0].pci_address, "");
  EXPECT_EQ(found.gpus[0].cumulative_energy_available, std::nullopt);
}

TEST(Decode, ADiscoveryIsWhatWasEncoded) {
  const Discovery told{
      .gpus = {{.id = 7, .name = "G", .pci_address = "0000:41:00.0"}},
      .cpus = {{.id = 1, .dram_available = true, .domain = "package_0"}},
      .enabled_api_groups = {"cpu-read"},
      .auth_required = true,
      .disabled_api_groups = {"gpu-control"},
      .stream_format = StreamFormat::snapshot,
      .refused = {{.subject = "s", .source = "o", .reason = "r", .remedy = "m"}},
      .granted_scopes = {{"gpu-read"}},
      .cpu_limit = wire::CpuLimit{
          .period_s = 0.5, .quantum_j = 0.25, .reason = "r", .effect = "e", .remedy = "m"}};
  EXPECT_EQ(encode(good(decode_discovery(encode(told)))), encode(told));
}

TEST(Decode, AGroupThatIsOffIsNotEnabledThoughItIsListed) {
  const Discovery found =
      good(decode_discovery(R"({"gpus":[],"enabled_api_groups":["gpu-control","gpu-read"],)"
                            R"("disabled_api_groups":["gpu-control"]})"));
  EXPECT_THAT(found.enabled_api_groups, ElementsAre("gpu-read"));
}

TEST(Decode, EnergiesOfCpusAreWhatWasEncoded) {
  const std::map<DeviceId, CpuEnergy> told{
      {0, {.cpu_uj = 5, .dram_uj = 6, .since_ms = 7, .timestamp_ms = 8, .domain = "package_1"}},
      {1, {.cpu_uj = 9}}};
  EXPECT_EQ(good(decode_cpu_energies(encode_cpu_energies(told))), told);
}

TEST(Decode, ALimitWithoutItsNumbersIsLeftOut) {
  for (const char* limit : {R"({"quantum_j":0.25,"reason":"r"})", R"({"period_s":0.5})",
                            R"({"period_s":"0.5","quantum_j":0.25})", "[]"}) {
    const std::string answer =
        R"({"gpu_ids":[],"cpu_ids":[],"dram_available":[],"cpu_limit":)" + std::string(limit) + "}";
    EXPECT_FALSE(good(decode_discovery(answer)).cpu_limit) << limit;
  }
}

TEST(Decode, ADiscoveryWithoutDevicesOfAnyGenerationIsNone) {
  EXPECT_EQ(why(decode_discovery(R"({"hello":"world"})")), "'gpu_ids' is missing");
}

TEST(Decode, WhatIsNoJsonObjectIsRefused) {
  for (const char* text : {"", "x", "{", "{\"gpus\":[}", "\"\xFF\"", "<html>"}) {
    EXPECT_EQ(why(decode_discovery(text)), "it is not JSON") << text;
  }
  for (const char* text : {"[]", "5", "null", "\"gpus\""}) {
    EXPECT_EQ(why(decode_discovery(text)), "it is not a JSON object") << text;
  }
}

TEST(Decode, WrongTypesAreRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"gpus":{}})", "'gpus' is not a list"},
      {R"({"gpus":[1]})", "'an item of 'gpus'' is not an object"},
      {R"({"gpus":[{}]})", "'id' is missing"},
      {R"({"gpus":[{"id":-1}]})", "'id' is not a whole number from 0 on"},
      {R"({"gpus":[{"id":"0"}]})", "'id' is not a whole number from 0 on"},
      {R"({"gpus":[{"id":4294967296}]})", "'id' is too large a number"},
      {R"({"gpus":[{"id":0},{"id":0}]})", "GPU 0 is there twice"},
      {R"({"gpus":[],"cpus":[{"id":7},{"id":7}]})", "CPU 7 is there twice"},
      {R"({"gpus":[],"cpus":[{"id":0,"dram_available":1}]})",
       "'dram_available' is neither true nor false"},
      {R"({"gpus":[],"auth_required":"no"})", "'auth_required' is neither true nor false"},
      {R"({"gpus":[],"enabled_api_groups":[5]})", "'enabled_api_groups' is not a text"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(why(decode_discovery(text)), expected) << text;
  }
}

TEST(Decode, ForeignTextCannotMoveACursor) {
  const Discovery found =
      good(decode_discovery(R"({"gpus":[{"id":0,"name":"\u001b[2J"}],"cpus":[]})"));
  EXPECT_EQ(found.gpus.at(0).name, "\\x1b[2J");
  EXPECT_THAT(why(decode_gpu_energies(R"({"\u0007":{}})")), HasSubstr("\\x07"));
}

TEST(Decode, DeepNestingIsRefused) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(why(decode_discovery(deep)), "it is not JSON");
}

TEST(Decode, AnIdIsAnyNumberOf32Bits) {
  EXPECT_EQ(good(decode_discovery(R"({"gpus":[{"id":4294967295}]})")).gpus.at(0).id, UINT32_MAX);
}

TEST(Decode, AnIdentityMayHaveAnEnd) {
  const Identity alice =
      good(decode_identity(R"({"sub":"alice","scopes":["gpu-read"],"exp":1762864200})"));
  EXPECT_EQ(alice.subject, "alice");
  EXPECT_THAT(alice.scopes, ElementsAre("gpu-read"));
  EXPECT_EQ(alice.expires_unix_s, 1762864200);
  EXPECT_EQ(good(decode_identity(R"({"sub":"a","scopes":[]})")).expires_unix_s, std::nullopt);
  EXPECT_EQ(
      good(decode_identity(R"({"sub":"a","scopes":[],"exp":18446744073709551615})")).expires_unix_s,
      INT64_MAX)
      << "later than any time";
  EXPECT_EQ(why(decode_identity(R"({"sub":"a"})")), "'scopes' is missing");
}

TEST(Decode, ATimeIsMilliseconds) {
  EXPECT_EQ(good(decode_time(R"({"timestamp_ms":1762000000000})")), 1762000000000);
  EXPECT_EQ(why(decode_time("{}")), "'timestamp_ms' is missing");
  EXPECT_EQ(why(decode_time(R"({"timestamp_ms":null})")), "'timestamp_ms' is missing");
  EXPECT_EQ(why(decode_time(R"({"timestamp_ms":9223372036854775808})")),
            "'timestamp_ms' is too large a number");
  for (const char* number : {"-1", "1.5", "1e400", "\"1\"", "NaN"}) {
    const std::string text = std::string(R"({"timestamp_ms":)") + number + "}";
    EXPECT_NE(why(decode_time(text)), "") << text;
  }
}

TEST(Decode, ATimeLiesBeforeTheYear10000) {
  EXPECT_EQ(good(decode_time(R"({"timestamp_ms":253402300799999})")), kLastUnixMs);
  constexpr const char* kTooLarge = "'timestamp_ms' is too large a number";
  for (const char* time : {"253402300800000", "9223372036854775807"}) {
    const std::string begin = std::string(R"({"timestamp_ms":)") + time;
    EXPECT_EQ(why(decode_time(begin + "}")), kTooLarge);
    EXPECT_EQ(why(decode_gpu_powers(begin + R"(,"power_mw":{"0":1}})")), kTooLarge);
    EXPECT_EQ(why(decode_cpu_powers(begin + R"(,"power_mw":{"0":{"cpu_mw":1}}})")), kTooLarge);
  }
  EXPECT_EQ(why(decode_cpu_energies(R"({"0":{"cpu_energy_uj":1,"since_ms":253402300800000}})")),
            "'since_ms' is too large a number");
}

TEST(Decode, APowerIsOneThatAMachineCanDraw) {
  for (const char* power : {"9223372036854775808", "1000000000001"}) {
    const std::string text = power;
    EXPECT_EQ(why(decode_gpu_powers(R"({"timestamp_ms":1,"power_mw":{"0":)" + text + "}}")),
              "'power_mw' is too large a number");
    const std::string cpu = R"({"timestamp_ms":1,"power_mw":{"0":{"cpu_mw":)";
    EXPECT_EQ(why(decode_cpu_powers(cpu + text + "}}}")), "'cpu_mw' is too large a number");
    EXPECT_EQ(why(decode_cpu_powers(cpu + "1,\"dram_mw\":" + text + "}}}")),
              "'dram_mw' is too large a number");
  }
  EXPECT_EQ(
      good(decode_gpu_powers(R"({"timestamp_ms":1,"power_mw":{"0":1000000000000}})")).powers.at(0),
      kMostMilliwatts);
}

TEST(Decode, PowersAreByDevice) {
  const GpuPowersAt gpus =
      good(decode_gpu_powers(R"({"timestamp_ms":5,"power_mw":{"0":75000,"11":1}})"));
  EXPECT_EQ(gpus.timestamp_ms, 5);
  EXPECT_THAT(gpus.powers, ElementsAre(Pair(0U, 75000U), Pair(11U, 1U)));

  const CpuPowersAt cpus =
      good(decode_cpu_powers(R"({"timestamp_ms":5,"power_mw":{"0":{"cpu_mw":85000,"dram_mw":null},)"
                             R"("1":{"cpu_mw":1,"dram_mw":2,"psys_mw":3}}})"));
  EXPECT_THAT(cpus.powers, ElementsAre(Pair(0U, CpuPower{.cpu_mw = 85000}),
                                       Pair(1U, CpuPower{.cpu_mw = 1, .dram_mw = 2})));
}

TEST(Decode, EnergiesAndSettingsAreWhatWasEncoded) {
  const std::map<DeviceId, std::uint64_t> numbers = {{0, 0}, {2, UINT64_MAX}};
  EXPECT_EQ(good(decode_gpu_energies(encode_gpu_energies(numbers))), numbers);
  EXPECT_EQ(good(decode_power_limits(encode_power_limits(numbers))), numbers);
  const std::map<DeviceId, CpuEnergy> energies = {{0, {.cpu_uj = 5, .since_ms = 7}},
                                                  {1, {.dram_uj = 6}}};
  EXPECT_EQ(good(decode_cpu_energies(encode_cpu_energies(energies))), energies);
  const std::map<DeviceId, bool> modes = {{0, true}, {1, false}};
  EXPECT_EQ(good(decode_persistence_modes(encode_persistence_modes(modes))), modes);
  const auto ranges =
      good(decode_power_limit_ranges(encode_power_limit_ranges({{3, {.min_mw = 1, .max_mw = 2}}})));
  ASSERT_TRUE(ranges.contains(3));
  EXPECT_EQ(ranges.at(3).min_mw, 1U);
  EXPECT_EQ(ranges.at(3).max_mw, 2U);
}

TEST(Decode, ADeviceIsNamedByAnId) {
  for (const char* key : {"", "a", "-1", "0x1", " 0", "4294967296"}) {
    const std::string text = std::string("{\"") + key + "\":{\"energy_mj\":1}}";
    EXPECT_THAT(why(decode_gpu_energies(text)), HasSubstr("not an id of a device")) << text;
  }
  EXPECT_THAT(why(decode_gpu_energies(R"({"0":{"energy_mj":1},"00":{"energy_mj":2}})")),
              HasSubstr("there twice"));
}

TEST(Decode, ANumberIsNeverMadeUp) {
  for (const char* number : {"null", "-1", "1.0", "\"1\"", "18446744073709551616", "true"}) {
    const std::string text = std::string(R"({"0":{"energy_mj":)") + number + "}}";
    EXPECT_NE(why(decode_gpu_energies(text)), "") << text;
  }
}

TEST(Decode, ACommentSaysWhichPowerIsNotKnown) {
  const UnknownPower gpu{.type = DeviceType::gpu, .id = 3, .reason = "lost: for good"};
  EXPECT_EQ(decode_unknown("gpu 3: lost: for good"), gpu);
  const UnknownPower dram{.type = DeviceType::cpu, .id = 0, .is_dram = true, .reason = "x"};
  EXPECT_EQ(decode_unknown("cpu 0 dram: x"), dram);
  EXPECT_EQ(decode_unknown("cpu 0: a\x1b")->reason, "a\\x1b");
  EXPECT_THAT(decode_unknown("cpu 0: " + std::string(10'000, 'x'))->reason,
              testing::SizeIs(testing::Lt(300U)));
}

TEST(Decode, OtherCommentsSayNothingOfAPower) {
  for (const char* const other :
       {"", "alive", "gpu", "gpu ", "gpu 0", "gpu 0:", "gpu 0: ", "gpu x: y", "gpu -1: y",
        "gpu 4294967296: y", "gpu 0 dram: y", "cpu 0 core: y", "tpu 0: y", " gpu 0: y"}) {
    EXPECT_EQ(decode_unknown(other), std::nullopt) << other;
  }
}

TEST(Decode, ARefusalSaysWhyInEitherForm) {
  EXPECT_EQ(decode_error(R"({"error":"GPU 5 not found"})"), "GPU 5 not found");
  EXPECT_EQ(decode_error(R"({"errors":{"0":"lost","2":"busy"}})"), "0: lost; 2: busy");
  EXPECT_EQ(decode_error(R"({"errors":{"0":5,"2":"busy"}})"), "2: busy");
  EXPECT_EQ(decode_error("GPU index 5 does not exist.\n"), "GPU index 5 does not exist.");
  EXPECT_EQ(decode_error(""), "");
  EXPECT_THAT(decode_error(std::string(10'000, 'x')), testing::SizeIs(testing::Lt(300U)));
  EXPECT_THAT(decode_error("a\x1b[2J"), AllOf(HasSubstr("\\x1b"), testing::StartsWith("a")));
}

}  // namespace
}  // namespace wattle::wire
