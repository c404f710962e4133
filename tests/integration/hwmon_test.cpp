// Power rails and batteries in a run, in `wattle power`, `sensors` and `doctor`, by a tree like the
// kernel's.
#include <csignal>
#include <sstream>

#include "base/dynlib.hpp"
#include "command.hpp"
#include "fakes/hwmon_tree.hpp"

namespace wattle::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Rails : public CommandTest {
 protected:
  void SetUp() override {
    if (DynamicLibrary::open(System{}.nvml_library)) {
      GTEST_SKIP() << "this machine has an NVIDIA driver, whose GPUs would be listed too";
    }
  }
  [[nodiscard]] Words tree() const {
    return {"--sysfs", tree_.system().sysfs, "--procfs", tree_.system().procfs};
  }
  [[nodiscard]] Json ask(const Words& words) const {
    return parse_json(run(wattle(words + tree())).out);
  }

  fakes::HwmonTree tree_;
};

TEST_F(Rails, AreMeasuredDuringARunAndNotAdded) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  tree_.add_battery("BAT0");
  const Outcome outcome =
      run(wattle_run(tree() + Words{"--quiet", "--json", "-"}, {"sleep", "0.7"}));
  const Json energy = parse_json(outcome.out)["energy"];
  ASSERT_EQ(energy["domains"].size(), 2U);
  const Json& battery = energy["domains"][0];
  EXPECT_EQ(battery["name"], "battery_bat0");
  EXPECT_NEAR(battery["mean_w"].get<double>(), 8.25, 0.01);
  const Json& rail = energy["domains"][1];
  EXPECT_EQ(rail["name"], "hwmon_ina226");
  EXPECT_EQ(rail["device"], "hwmon_ina226");
  EXPECT_EQ(rail["source"], "hwmon");
  EXPECT_EQ(rail["method"], "integrated");
  EXPECT_EQ(rail["contained_in"], nullptr);
  EXPECT_NEAR(rail["mean_w"].get<double>(), 12.5, 0.01);
  EXPECT_EQ(energy["total_j"], nullptr) << "they may overlap what is not measured";
  EXPECT_EQ(parse_json(outcome.out)["host"]["gpus"], Json::array());
}

TEST_F(Rails, SayThatNobodyKnowsHowMuchOfTheTimeTheySee) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  EXPECT_THAT(run(wattle_run(tree(), {"sleep", "0.3"})).err,
              HasSubstr("sees an unknown part of the time"));
  EXPECT_THAT(run(wattle(Words{"sensors"} + tree())).out,
              HasSubstr("W, sees an unknown part of the time\n"));
}

TEST_F(Rails, SayInTheReportThatTheyAreNotAdded) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  const Outcome outcome = run(wattle_run(tree(), {"sleep", "0.3"}));
  EXPECT_THAT(outcome.err, HasSubstr("hwmon_ina226"));
  EXPECT_THAT(outcome.err, HasSubstr("overlaps the others, not added"));
}

TEST_F(Rails, AreMeasuredBesideGpusThatAreLeftOut) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  const Json json = measure(tree() + Words{"--gpus", "none"}, {"sleep", "0.3"}).json;
  EXPECT_EQ(json["energy"]["domains"][0]["name"], "hwmon_ina226");
}

TEST_F(Rails, HaveUnknownTimeWhereTheirDriverGivesNoValue) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  const std::string file = (tree_.chip(0) / "power1_input").string();
  const Json json =
      measure(tree(), {"sh", "-c", "sleep 0.4; echo garbage > " + file + "; sleep 0.9"}).json;
  const Json& rail = json["energy"]["domains"][0];
  EXPECT_GT(rail["unknown_s"].get<double>(), 0.2);
  EXPECT_NEAR(rail["mean_w"].get<double>(), 12.5, 0.01) << "of the time that is known";
  EXPECT_THAT(rail["flags"].dump(), HasSubstr("gap"));
}

TEST_F(Rails, AreListedWithWhereTheyAreRead) {
  tree_.add_power_meter(0, 0, "Grace Power Socket 0");
  tree_.add_power_meter(1, 1, "CPU Power Socket 0");
  const Json json = ask({"sensors", "--json"});
  const Json& cpu = json["channels"][0];
  EXPECT_EQ(cpu["domain"], "hwmon_grace_power_socket_0");
  EXPECT_EQ(cpu["quantity"], "power_average");
  EXPECT_EQ(cpu["window_s"], 1.0);
  EXPECT_EQ(json["devices"][0]["kind"], "other");
  EXPECT_EQ(json["devices"][0]["model"], "power_meter");
}

TEST_F(Rails, AreReadable) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  tree_.add_ina226(1, "i2c-1/1-0041");
  tree_.write(1, "power1_input", "garbage\n");
  const Json json = ask({"doctor", "--json"});
  EXPECT_EQ(json["readable"], (Json{"hwmon_ina226"}));
  EXPECT_THAT(json["refused"].dump(), HasSubstr("hwmon_ina226_2"));
  const Outcome text = run(wattle(Words{"doctor"} + tree()));
  EXPECT_THAT(text.out, HasSubstr("other energy"));
  EXPECT_THAT(text.out, Not(HasSubstr("GPU energy")));
}

TEST_F(Rails, HaveColumnsWhateverTheirNamesAre) {
  // The longest that a name can have.
  const std::string name = "hwmon_" + std::string(24, 'a');
  tree_.add_power_meter(0, 0, std::string(40, 'a'));
  tree_.add_ina226(1, "i2c-1/1-0040");
  Process process(wattle(Words{"power", "--period", "0.1"} + tree()));
  EXPECT_TRUE(process.prints(" W"));
  process.send(SIGINT);
  std::istringstream lines(process.wait().out);
  std::string header;
  std::string row;
  std::getline(lines, header);
  std::getline(lines, row);
  EXPECT_THAT(header, HasSubstr("  " + name));
  EXPECT_THAT(header, HasSubstr("  hwmon_ina226"));
  const auto end_of = [](const std::string& line, const std::string& what) {
    return line.find(what) + what.size();
  };
  EXPECT_EQ(end_of(header, name), end_of(row, " W")) << header << "\n" << row;
  EXPECT_EQ(header.find("± and flags"), row.find("coverage_unknown")) << header << "\n" << row;
}

TEST_F(Rails, AreShownByPowerAndEnergyThoughNothingElseIs) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  for (const char* command : {"power", "energy"}) {
    Process process(wattle(Words{command, "--json", "--period", "0.1"} + tree()));
    EXPECT_TRUE(process.prints("\"reading\""));
    process.send(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    std::istringstream lines(outcome.out);
    std::string line;
    std::string last;
    while (std::getline(lines, line)) last = line;
    const Json total = parse_json(last);
    EXPECT_EQ(total["type"], "total");
    ASSERT_EQ(total["devices"].size(), 1U);
    EXPECT_EQ(total["devices"][0]["domain"], "hwmon_ina226");
    EXPECT_NEAR(total["devices"][0]["mean_w"].get<double>(), 12.5, 0.01);
  }
}

}  // namespace
}  // namespace wattle::integration
