// The requests that Zeus's device classes make when they start behind ZEUSD_SOCK_PATH, in both of
// its generations, and what they need to find in the answers.
#include <algorithm>
#include <cstdint>
#include <set>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kGpusForZeus =
    "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\npci 0000:41:00\nlimit 200 300\nleast_limit 100\n"
    "clock_range 210 1980 800 1593\n"
    "gpu NVIDIA A40\nuuid GPU-bbbb\npci 0000:61:00\nlimit 300 300\nleast_limit 150\n"
    "clock_range 210 1740 405 7251\n";

enum class Generation : std::uint8_t {
  snapshot,    ///< Zeus 0.14 and 0.15: lists of ids, each of which may be missing
  per_device,  ///< Zeus 0.16: a record for each device, whose keys must all be there
};

/// Zeus's client, as far as its device classes use it.
class ZeusClient {
 public:
  /// Asks what is served and, where a token is wanted, what it permits.
  ZeusClient(std::string socket, Generation generation, const std::string& token = {})
      : socket_(std::move(socket)) {
    if (!token.empty()) authorization_ = "Authorization: Bearer " + token + "\r\n";
    const HttpAnswer answer = send("GET", "/discover");
    EXPECT_EQ(answer.status, 200);
    const Json found = parse_json(answer.body);
    generation == Generation::per_device ? take_records(found) : take_lists(found);
    if (!needs_token_) return;
    const HttpAnswer identity = send("GET", "/auth/whoami");
    if (identity.status != 200) {
      auth_error_ = identity.body;
      return;
    }
    const Json permitted = parse_json(identity.body);
    for (const Json& scope : permitted["scopes"]) scopes_.insert(scope);
  }

  /// What keeps a device class from starting; empty: nothing.
  [[nodiscard]] std::vector<std::string> missing(const std::string& scope, std::uint32_t id) const {
    if (!auth_error_.empty()) return {auth_error_};
    std::vector<std::string> missing;
    if (!groups_.contains(scope)) {
      missing.push_back(scope + " is not enabled");
    } else if (needs_token_ && !scopes_.contains(scope)) {
      missing.push_back(scope + " is not permitted");
    }
    const std::vector<std::uint32_t>& ids = scope == "cpu-read" ? cpus_ : gpus_;
    if (std::ranges::find(ids, id) == ids.end()) missing.push_back("there is no such device");
    return missing;
  }
  [[nodiscard]] bool has_dram(std::size_t place) const { return has_dram_.at(place); }
  [[nodiscard]] const std::vector<std::string>& pci_addresses() const { return pci_addresses_; }

  [[nodiscard]] HttpAnswer post(const std::string& target) const {
    return send("POST", target, "Content-Length: 0\r\n");
  }
  [[nodiscard]] HttpAnswer get(const std::string& target) const { return send("GET", target); }

 private:
  [[nodiscard]] HttpAnswer send(std::string_view method, const std::string& target,
                                const std::string& lines = {}) const {
    return HttpClient::at_file(socket_).ask(
        method, target,
        "Connection: keep-alive\r\nUser-Agent: python-httpx/0.28\r\n" + authorization_ + lines);
  }

  /// A key that is missing ends the client: `at` throws.
  void take_records(const Json& found) {
    for (const Json& gpu : found.at("gpus")) {
      gpus_.push_back(gpu.at("id").get<std::uint32_t>());
      pci_addresses_.push_back(gpu.at("pci_address").get<std::string>());
      EXPECT_TRUE(gpu.at("name").is_string());
      EXPECT_TRUE(gpu.at("cumulative_energy_available").is_boolean());
    }
    for (const Json& cpu : found.at("cpus")) {
      cpus_.push_back(cpu.at("id").get<std::uint32_t>());
      has_dram_.push_back(cpu.at("dram_available").get<bool>());
    }
    for (const Json& group : found.at("enabled_api_groups")) groups_.insert(group);
    needs_token_ = found.at("auth_required").get<bool>();
  }

  void take_lists(const Json& found) {
    const Json none = Json::array();
    gpus_ = found.value("gpu_ids", none).get<std::vector<std::uint32_t>>();
    cpus_ = found.value("cpu_ids", none).get<std::vector<std::uint32_t>>();
    has_dram_ = found.value("dram_available", none).get<std::vector<bool>>();
    const Json groups = found.value("enabled_api_groups", none);
    for (const Json& group : groups) groups_.insert(group);
    needs_token_ = found.value("auth_required", false);
  }

  std::string socket_;
  std::string authorization_;
  std::string auth_error_;
  std::vector<std::uint32_t> gpus_;
  std::vector<std::string> pci_addresses_;
  std::vector<std::uint32_t> cpus_;
  std::vector<bool> has_dram_;
  std::set<std::string> groups_;
  std::set<std::string> scopes_;
  bool needs_token_ = false;
};

class ZeusBehindTheSocket : public DaemonTest, public testing::WithParamInterface<Generation> {
 protected:
  void serve_zeus(const Words& options) {
    const bool is_old = GetParam() == Generation::snapshot;
    serve(Words{"--settings-journal", path("settings").string(), "--stream-format",
                is_old ? "snapshot" : "per-device"} +
              options,
          kGpusForZeus);
  }
  void serve_with_control() { serve_zeus({"--enable", "gpu-read,cpu-read,gpu-control"}); }
  [[nodiscard]] ZeusClient zeus(const std::string& token = {}) const {
    return {socket(), GetParam(), token};
  }
  /// What the driver was asked to set.
  [[nodiscard]] std::string driver_was_set() const {
    const std::string file = nvml_->script_path() + ".set";
    return std::filesystem::exists(file) ? content_of(file) : "";
  }
};

TEST_P(ZeusBehindTheSocket, NvidiaGpusStartAndAreSetWhereControlIsEnabled) {
  serve_with_control();
  const ZeusClient client = zeus();
  for (const std::uint32_t gpu : {0U, 1U}) {
    EXPECT_THAT(client.missing("gpu-control", gpu), IsEmpty());
    const std::string of = "?gpu_ids=" + std::to_string(gpu) + "&block=true";
    for (const std::string& target : {
             "/gpu/set_persistence_mode" + of + "&enabled=true",
             "/gpu/set_power_limit" + of + "&power_limit_mw=200000",
             "/gpu/set_gpu_locked_clocks" + of + "&min_clock_mhz=210&max_clock_mhz=1410",
             // Zeus frees both clocks by two requests.
             "/gpu/reset_gpu_locked_clocks" + of,
             "/gpu/reset_mem_locked_clocks" + of,
         }) {
      EXPECT_EQ(client.post(target).status, 200) << target;
    }
    const std::string number = std::to_string(gpu);
    EXPECT_THAT(driver_was_set(),
                HasSubstr(number + " persistence 1\n" + number + " power_limit 200000\n" + number +
                          " gpu_clocks 210 1410\n" + number + " gpu_clocks reset\n" + number +
                          " memory_clocks reset\n"));
  }
}

TEST_P(ZeusBehindTheSocket, OptimizersThatDoNotWaitAreAnsweredAtOnce) {
  serve_with_control();
  const HttpAnswer answer =
      zeus().post("/gpu/set_power_limit?gpu_ids=0&block=false&power_limit_mw=150000");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, IsEmpty());
  EXPECT_TRUE(eventually([&] { return driver_was_set() == "0 power_limit 150000\n"; }));
}

TEST_P(ZeusBehindTheSocket, AGpuThatTheHostLacksIsMissing) {
  serve_with_control();
  EXPECT_THAT(zeus().missing("gpu-control", 2), ElementsAre("there is no such device"));
}

// They measure by the driver itself: only their setters need the daemon.
TEST_P(ZeusBehindTheSocket, NvidiaGpusStartWithoutControlAndTheirSettersSayWhatToEnable) {
  serve_zeus({});
  const ZeusClient client = zeus();
  EXPECT_THAT(client.missing("gpu-control", 0), IsEmpty());
  const Json found = parse_json(client.get("/discover").body);
  EXPECT_EQ(found["disabled_api_groups"], Json({"gpu-control"}));
  EXPECT_EQ(found["granted_scopes"], Json({"gpu-read", "cpu-read"}));
  const HttpAnswer answer =
      client.post("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=200000");
  EXPECT_EQ(answer.status, 404);
  const std::string error = parse_json(answer.body)["error"];
  EXPECT_THAT(error, HasSubstr("API group 'gpu-control' is not enabled on this server."));
  EXPECT_THAT(error, HasSubstr("wattled serve --enable gpu-read,cpu-read,gpu-control"));
  EXPECT_THAT(driver_was_set(), IsEmpty());
}

TEST_P(ZeusBehindTheSocket, ControlIsNotListedWhereNoGpuIsServed) {
  serve_zeus({"--enable", "cpu-read"});
  EXPECT_THAT(zeus().missing("gpu-control", 0),
              ElementsAre("gpu-control is not enabled", "there is no such device"));
}

TEST_P(ZeusBehindTheSocket, CpusStartAndAreReadWithControlAndWithout) {
  play(50.0);
  for (const char* const enabled : {"gpu-read,cpu-read", "gpu-read,cpu-read,gpu-control"}) {
    serve_zeus({"--enable", enabled});
    const ZeusClient client = zeus();
    for (const std::uint32_t cpu : {0U, 1U}) {
      EXPECT_THAT(client.missing("cpu-read", cpu), IsEmpty());
      const std::string number = std::to_string(cpu);
      const HttpAnswer answer =
          client.get("/cpu/get_cumulative_energy?cpu=true&dram=true&cpu_ids=" + number);
      ASSERT_EQ(answer.status, 200);
      const Json energy = parse_json(answer.body).at(number);
      EXPECT_TRUE(energy.at("cpu_energy_uj").is_number_unsigned());
      // Zeus refuses a null where /discover has promised a counter of the memory.
      EXPECT_EQ(energy.at("dram_energy_uj").is_number_unsigned(), client.has_dram(cpu));
    }
    EXPECT_TRUE(client.has_dram(0));
    EXPECT_FALSE(client.has_dram(1));
  }
}

TEST_P(ZeusBehindTheSocket, CpusDoNotStartWhereTheyAreNotServed) {
  serve_zeus({"--enable", "gpu-read"});
  EXPECT_THAT(zeus().missing("cpu-read", 0),
              ElementsAre("cpu-read is not enabled", "there is no such device"));
}

TEST_P(ZeusBehindTheSocket, ATokenNeedsTheScopeOfEachDeviceClass) {
  serve_zeus({"--enable", "gpu-read,cpu-read,gpu-control", "--signing-key-path",
              key_file("a key of at least thirty-two bytes")});
  const ZeusClient sets = zeus(token("alice", "gpu-control"));
  EXPECT_THAT(sets.missing("gpu-control", 1), IsEmpty());
  EXPECT_THAT(sets.missing("cpu-read", 0), ElementsAre("cpu-read is not permitted"));
  EXPECT_EQ(sets.post("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=150000").status,
            200);
  const ZeusClient reads = zeus(token("bob", "gpu-read,cpu-read"));
  EXPECT_THAT(reads.missing("cpu-read", 1), IsEmpty());
  EXPECT_THAT(reads.missing("gpu-control", 0), ElementsAre("gpu-control is not permitted"));
  const HttpAnswer answer =
      reads.post("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=160000");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("lacks required scope 'gpu-control'"));
  EXPECT_EQ(driver_was_set(), "0 power_limit 150000\n");
}

TEST_P(ZeusBehindTheSocket, ATokenThatIsMissingOrBadIsTheErrorThatIsShown) {
  serve_zeus({"--enable", "gpu-read,cpu-read,gpu-control", "--signing-key-path",
              key_file("a key of at least thirty-two bytes")});
  EXPECT_THAT(zeus().missing("gpu-control", 0), ElementsAre(HasSubstr("Authentication required.")));
  EXPECT_THAT(zeus("made.up.token").missing("gpu-control", 0),
              ElementsAre(HasSubstr("Invalid token")));
}

INSTANTIATE_TEST_SUITE_P(Generations, ZeusBehindTheSocket,
                         testing::Values(Generation::snapshot, Generation::per_device),
                         [](const auto& generation) {
                           return generation.param == Generation::snapshot ? "Snapshot"
                                                                           : "PerDevice";
                         });

class ZeusAmdGpu : public DaemonTest {};

// Its class finds the daemon's GPU by the address of its own: one match, whatever the case.
TEST_F(ZeusAmdGpu, FindsEachGpuByItsAddress) {
  serve({"--enable", "gpu-read,gpu-control", "--settings-journal", path("settings").string()},
        kGpusForZeus);
  const ZeusClient client(socket(), Generation::per_device);
  EXPECT_THAT(client.pci_addresses(), ElementsAre("0000:41:00.0", "0000:61:00.0"));
}

}  // namespace
}  // namespace wattle::integration
