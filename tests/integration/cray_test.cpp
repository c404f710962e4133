// The counters of an HPE Cray node in a run, by files in the form of its own.
#include "command.hpp"
#include "fakes/cray_node.hpp"

namespace wattle::integration {
namespace {

class CrayRun : public CommandTest {
 protected:
  [[nodiscard]] Words tree() const {
    return {"--sysfs",        node_.system().sysfs, "--procfs", node_.system().procfs,
            "--nvml-library", path("none.so")};
  }

  fakes::CrayNode node_;
};

TEST_F(CrayRun, HasWhatTheNodeUsedAndAddsNothing) {
  std::filesystem::remove(node_.path("power"));  // its integral is another way to the energy
  const std::string energy = node_.path("energy").string();
  const Json json =
      measure(tree(), {"sh", "-c", "echo '46379192 J 1800000000000000 us' > " + energy})
          .json["energy"];
  EXPECT_EQ(json["total_j"], nullptr) << "it may overlap what is not measured";
  const auto node = std::ranges::find_if(
      json["domains"], [](const Json& domain) { return domain["name"] == "cray_node"; });
  ASSERT_NE(node, json["domains"].end());
  EXPECT_EQ((*node)["energy_j"], 1000.0);
  EXPECT_EQ((*node)["source"], "cray");
  EXPECT_GE((*node)["uncertainty_j"].get<double>(), 1.0) << "it counts whole joules";
}

}  // namespace
}  // namespace wattle::integration
