#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "wire/message_json.hpp"

namespace wattle::wire {
namespace {

constexpr UnixMs kSometime = 1762000000000;

Discovery two_gpus() {
  return {.gpus = {{.id = 0,
                    .name = "NVIDIA A40",
                    .pci_address = "0000:01:00.0",
                    .cumulative_energy_available = true,
                    .domain = "nvidia_gpu_0"},
                   {.id = 3, .name = "Old", .pci_address = "0000:41:00.0"}},
          .cpus = {{.id = 0, .dram_available = true}, {.id = 1, .dram_available = false}},
          .enabled_api_groups = {"gpu-read", "cpu-read"},
          .auth_required = false};
}

TEST(Encode, DiscoveryBeginsWithTheKeysOfTheNewGeneration) {
  const std::string expected =
      R"({"gpus":[{"id":0,"name":"NVIDIA A40","pci_address":"0000:01:00.0",)"
      R"("cumulative_energy_available":true,"domain":"nvidia_gpu_0"},)"
      R"({"id":3,"name":"Old","pci_address":"0000:41:00.0",)"
      R"("cumulative_energy_available":false}],)"
      R"("cpus":[{"id":0,"dram_available":true},{"id":1,"dram_available":false}],)"
      R"("enabled_api_groups":["gpu-read","cpu-read"],"auth_required":false,)";
  EXPECT_EQ(encode(two_gpus()).substr(0, expected.size()), expected);
}

TEST(Encode, DiscoverySaysWhatACpuIsWhereThatIsKnown) {
  Discovery discovery = two_gpus();
  discovery.cpus[1].domain = "psys";
  const auto json = nlohmann::json::parse(encode(discovery));
  EXPECT_EQ(json["cpus"][1]["domain"], "psys");
  EXPECT_FALSE(json["cpus"][0].contains("domain"));
}

TEST(Encode, DiscoveryListsAGroupThatZeusWantsToSeeAndSaysThatItIsOff) {
  Discovery discovery = two_gpus();
  EXPECT_FALSE(nlohmann::json::parse(encode(discovery)).contains("disabled_api_groups"));
  discovery.disabled_api_groups = {"gpu-control"};
  const auto json = nlohmann::json::parse(encode(discovery));
  EXPECT_EQ(json["enabled_api_groups"], (nlohmann::json{"gpu-control", "gpu-read", "cpu-read"}));
  EXPECT_EQ(json["disabled_api_groups"], nlohmann::json{"gpu-control"});
}

TEST(Encode, DiscoveryHasTheKeysOfTheOldGenerationToo) {
  const auto json = nlohmann::json::parse(encode(two_gpus()));
  EXPECT_EQ(json["gpu_ids"], (nlohmann::json{0, 3}));
  EXPECT_EQ(json["cpu_ids"], (nlohmann::json{0, 1}));
  EXPECT_EQ(json["dram_available"], (nlohmann::json{true, false}));
}

TEST(Encode, DiscoverySaysWhatIsRefusedAndWhy) {
  const auto json = nlohmann::json::parse(encode(
      Discovery{.refused = {{.subject = "package_0", .source = "powercap", .reason = "x"}}}));
  EXPECT_EQ(json["refused"][0]["subject"], "package_0");
  EXPECT_EQ(json["refused"][0]["remedy"], nullptr);
  EXPECT_EQ(json["gpus"], nlohmann::json::array());
}

TEST(Encode, DiscoverySaysWhatItsCallerMayUseAndSeesInPart) {
  Discovery discovery;
  EXPECT_FALSE(nlohmann::json::parse(encode(discovery)).contains("granted_scopes"));
  EXPECT_FALSE(nlohmann::json::parse(encode(discovery)).contains("cpu_limit"));
  discovery.granted_scopes.emplace();
  discovery.cpu_limit = {
      .period_s = 1, .quantum_j = 0.5, .reason = "r", .effect = "e", .remedy = "m"};
  const auto json = nlohmann::json::parse(encode(discovery));
  EXPECT_EQ(json["granted_scopes"], nlohmann::json::array());
  EXPECT_EQ(
      json["cpu_limit"],
      (nlohmann::json{
          {"period_s", 1}, {"quantum_j", 0.5}, {"reason", "r"}, {"effect", "e"}, {"remedy", "m"}}));
}

TEST(Encode, AGpuEventIsOneObject) {
  EXPECT_EQ(event(encode_event(kSometime, 0, 75000)),
            "data: {\"timestamp_ms\":1762000000000,\"gpu_id\":0,\"power_mw\":75000}\n\n");
}

TEST(Encode, ACpuEventHasItsMemoryToo) {
  EXPECT_EQ(encode_event(kSometime, 0, CpuPower{.cpu_mw = 85000, .dram_mw = 12000}),
            R"({"timestamp_ms":1762000000000,"cpu_id":0,"cpu_mw":85000,"dram_mw":12000})");
  EXPECT_EQ(encode_event(kSometime, 1, CpuPower{.cpu_mw = 85000}),
            R"({"timestamp_ms":1762000000000,"cpu_id":1,"cpu_mw":85000,"dram_mw":null})");
}

TEST(Encode, ASnapshotHoldsAllDevices) {
  EXPECT_EQ(encode(GpuPowersAt{kSometime, {{0, 75000}, {1, 120000}}}),
            R"({"timestamp_ms":1762000000000,"power_mw":{"0":75000,"1":120000}})");
  EXPECT_EQ(encode(CpuPowersAt{kSometime, {{0, {85000, 12000}}, {1, {80000, std::nullopt}}}}),
            R"({"timestamp_ms":1762000000000,"power_mw":{"0":{"cpu_mw":85000,"dram_mw":12000},)"
            R"("1":{"cpu_mw":80000,"dram_mw":null}}})");
}

TEST(Encode, AnswersAreThoseOfTheReference) {
  EXPECT_EQ(encode_time(5), R"({"timestamp_ms":5})");
  EXPECT_EQ(encode_gpu_energies({{0, 123456}}), R"({"0":{"energy_mj":123456}})");
  EXPECT_EQ(encode_cpu_energies({{0, {123456, 78901}}}),
            R"({"0":{"cpu_energy_uj":123456,"dram_energy_uj":78901}})");
  EXPECT_EQ(encode_cpu_energies({{0, {std::nullopt, 1}}}),
            R"({"0":{"cpu_energy_uj":null,"dram_energy_uj":1}})");
  EXPECT_EQ(encode_power_limits({{0, 200000}}), R"({"0":{"power_limit_mw":200000}})");
  EXPECT_EQ(encode_power_limit_ranges({{0, {100000, 300000}}}),
            R"({"0":{"min_power_limit_mw":100000,"max_power_limit_mw":300000}})");
  EXPECT_EQ(encode_persistence_modes({{0, true}}), R"({"0":{"enabled":true}})");
}

TEST(Encode, AnIdentityHasAnExpiryOnlyWhereTheTokenHas) {
  EXPECT_EQ(encode(Identity{"alice", {"gpu-read"}, 1762864200}),
            R"({"sub":"alice","scopes":["gpu-read"],"exp":1762864200})");
  EXPECT_EQ(encode(Identity{"bob", {}, std::nullopt}), R"({"sub":"bob","scopes":[]})");
}

TEST(Encode, ErrorsAreWholeWhateverTheyQuote) {
  EXPECT_EQ(encode_error("GPU 5 not found"), R"({"error":"GPU 5 not found"})");
  EXPECT_EQ(encode_errors({{2, "a \"b\"\n"}}), R"({"errors":{"2":"a \"b\"\n"}})");
  EXPECT_EQ(encode_error("\xff"), "{\"error\":\"\xEF\xBF\xBD\"}");
}

TEST(Encode, AnUnknownPowerIsACommentOfOneLine) {
  EXPECT_EQ(encode(UnknownPower{.type = DeviceType::gpu, .id = 3, .reason = "lost"}),
            ": gpu 3: lost\n\n");
  EXPECT_EQ(
      encode(UnknownPower{.type = DeviceType::cpu, .id = 0, .is_dram = true, .reason = "a\n\nb"}),
      ": cpu 0 dram: a\\x0a\\x0ab\n\n");
}

TEST(Encode, NeitherEventsNorCommentsHaveCarriageReturns) {
  EXPECT_EQ(event("{}"), "data: {}\n\n");
  EXPECT_EQ(comment("alive"), ": alive\n\n");
}

TEST(Encode, TextHasNoControlCharactersAndNoMarksOfDirection) {
  EXPECT_EQ(json_string("a\x1b[2J\x7f\xc2\x9b\xe2\x80\xae"), R"("a\u001b[2J\u007f\u009b\u202e")");
}

}  // namespace
}  // namespace wattle::wire
