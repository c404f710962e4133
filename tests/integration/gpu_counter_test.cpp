// The energy counter of a GPU. It may add up what its power gauge shows, which looks away most of
// the time: then its energy says so, and it says so too while nobody knows. It is read on after the
// end of a command: only its next update shows what was spent just before.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "command.hpp"
#include "fakes/nvml/control.hpp"

namespace wattle::integration {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBoard =
    "driver 570.1\ngpu NVIDIA A100-SXM4-80GB\naverage none\ncounter 0 step_ms 100\n";

/// A machine with a GPU and nothing else.
class CounterOfAGpu : public CommandTest {
 protected:
  [[nodiscard]] Outcome outcome_of(const Words& words, const std::string& script) const {
    const fakes::FakeNvml fake(script);
    Start start = wattle(words);
    start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()},
                         {"WATTLE_NVML_LIBRARY", fake.library_path()},
                         {"WATTLE_SYSFS", path("nothing").string()},
                         {"WATTLE_PROCFS", path("nothing").string()},
                         {"WATTLE_SOCK_PATH", "none"},
                         {"XDG_STATE_HOME", path("state").string()}};
    Outcome outcome = run(start);
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return outcome;
  }
  /// The GPU's energy in a run of `sleep`.
  struct RunOfAGpu {
    Json energy;
    std::string text;
  };
  [[nodiscard]] RunOfAGpu run_of(const std::string& script, const std::string& seconds) const {
    const Outcome outcome =
        outcome_of({"run", "--json", path("run.json").string(), "sleep", seconds}, script);
    const Json json = parse_json(content_of(path("run.json")));
    return {.energy = json["energy"]["domains"][0], .text = outcome.err};
  }
};

class FedCounterOfAGpu : public CounterOfAGpu {
 protected:
  /// As `wattle sensors --measure` keeps it: `feed` is "own" or "fed".
  void keep(const std::string& feed) const {
    std::array<char, 256> host{};
    ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
    const std::filesystem::path folder = path("state/wattle/updates");
    std::filesystem::create_directories(folder);
    std::ofstream(folder / (std::string(host.data()) + ".json"))
        << R"({"schema":"wattle.updates/1","sensors":[{"sensor":)"
        << R"("nvml energy nvidia_gpu NVIDIA A100-SXM4-80GB 570.1",)"
        << R"("mean_s":0.1,"spread_s":0.001,"p99_s":0.103,"counter":")" << feed << "\"}]}";
  }
  /// What a short run says of the GPU's energy: its flags, and its text.
  struct Said {
    Json flags;
    std::string text;
  };
  [[nodiscard]] Said said_of_a_run() const {
    const RunOfAGpu run = run_of(std::string(kBoard) + "power step 0 150\n", "0.5");
    return {.flags = run.energy["flags"], .text = run.text};
  }
};

TEST_F(FedCounterOfAGpu, IsFlaggedWhileNobodyKnows) {
  const Said said = said_of_a_run();
  EXPECT_THAT(said.flags, Contains("coverage_unknown"));
  EXPECT_THAT(said.text, HasSubstr("coverage_unknown"));
}

TEST_F(FedCounterOfAGpu, IsFlaggedWhereItIsKept) {
  keep("fed");
  const Said said = said_of_a_run();
  EXPECT_THAT(said.flags, Contains("partial_coverage"));
  EXPECT_THAT(said.flags, Not(Contains("coverage_unknown")));
  EXPECT_THAT(said.text, HasSubstr("partial_coverage"));
  const std::string sensors = outcome_of({"sensors"}, kBoard).out;
  EXPECT_THAT(sensors, HasSubstr("counter: fed, it adds up what the power gauge shows"));
}

TEST_F(FedCounterOfAGpu, HasNoFlagWhereItsCounterIsKnownToBeItsOwn) {
  keep("own");
  const Said said = said_of_a_run();
  EXPECT_EQ(said.flags, Json::array());
  EXPECT_THAT(said.text, Not(HasSubstr("coverage")));
  const Json json = parse_json(outcome_of({"sensors", "--json"}, kBoard).out);
  EXPECT_THAT(json["channels"], Contains(testing::Truly([](const Json& channel) {
                return channel["quantity"] == "energy" && channel["counter"] == "own";
              })));
}

class ReadOnAfterACommand : public CounterOfAGpu {
 protected:
  /// Nobody has observed that the counter is renewed every 20 ms.
  [[nodiscard]] Json energy_of_a_run(const std::string& seconds) const {
    const std::string board =
        "driver 570.1\ngpu NVIDIA A100-SXM4-80GB\naverage none\ncounter 0 step_ms 20\n";
    return run_of(board + "power step 0 150\n", seconds).energy;
  }
};

TEST_F(ReadOnAfterACommand, ShowsWhatWasSpentBeforeItsEnd) {
  const Json energy = energy_of_a_run("1");
  EXPECT_EQ(energy["ends_are_seen"], true) << energy;
}

TEST_F(ReadOnAfterACommand, IsNotDoneForACommandThatIsTooShort) {
  const Json energy = energy_of_a_run("0.1");
  EXPECT_EQ(energy["ends_are_seen"], false) << energy;
}

}  // namespace
}  // namespace wattle::integration
