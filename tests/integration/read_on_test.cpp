// Counters are read on after the end of a command: what was spent just before it is shown only by
// their next update.
#include <string>

#include "command.hpp"
#include "fakes/nvml/control.hpp"

namespace wattle::integration {
namespace {

/// A machine with a GPU whose counter is renewed every 20 ms, as nobody has observed yet.
class ReadOnAfterACommand : public CommandTest {
 protected:
  [[nodiscard]] Json energy_of_a_run(const std::string& seconds) const {
    const fakes::FakeNvml fake(
        "driver 570.1\ngpu NVIDIA A100-SXM4-80GB\naverage none\ncounter 0 step_ms 20\n"
        "power step 0 150\n");
    Start start = wattle({"run", "--json", path("run.json").string(), "sleep", seconds});
    start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()},
                         {"WATTLE_NVML_LIBRARY", fake.library_path()},
                         {"WATTLE_SYSFS", path("nothing").string()},
                         {"WATTLE_PROCFS", path("nothing").string()},
                         {"WATTLE_SOCK_PATH", "none"},
                         {"XDG_STATE_HOME", path("state").string()}};
    EXPECT_EQ(run(start).code(), 0);
    return parse_json(content_of(path("run.json")))["energy"]["domains"][0];
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
