// The numbers of CPUs are those of powercap's zones, as Zeus and zeusd have them: what their
// clients compute for a zone is what its counter shows.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

/// A tree of powercap of the test's own, whose counters it advances. Zeus numbers CPUs by its
/// zones.
class ZeusZones : public DaemonTest {
 protected:
  ZeusZones() {
    for (const char* const zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"}) {
      std::filesystem::remove_all(tree_.zone_path(zone));
      std::filesystem::remove(tree_.root() / "sys/class/powercap" / zone);
    }
  }
  void add(const std::string& zone, std::string_view name) {
    tree_.add_zone(zone, name, fakes::kPackageUnit, ticks_of(zone));
    zones_.push_back(zone);
  }
  /// Each zone advances by another energy.
  void advance() {
    ++steps_;
    for (const std::string& zone : zones_) {
      fakes::set_energy_uj(tree_.zone_path(zone), fakes::kPackageUnit.energy_uj(ticks_of(zone)));
    }
  }
  [[nodiscard]] std::uint64_t ticks_of(const std::string& zone) const {
    const std::size_t number = std::hash<std::string>{}(zone) % 1000;
    return 100'000 + number * 7 + steps_ * (number + 1) * 16;  // at most 1 J at once
  }
  /// What Zeus computes of a zone and of its memory between two `advance`s, in uJ.
  [[nodiscard]] Json energies() const {
    return parse_json(get("/cpu/get_cumulative_energy?cpu=true&dram=true").body);
  }
  [[nodiscard]] std::uint64_t direct_uj(const std::string& zone) const {
    return std::stoull(content_of(tree_.zone_path(zone) / "energy_uj"));
  }
  /// Each zone's number is a CPU whose energy is the zone's, and its memory's that of `dram`.
  void expect_energies_of_zones(const std::map<std::string, std::string>& drams) {
    serve({}, "");
    const auto tops = [&] {
      std::vector<std::string> tops;
      std::ranges::copy_if(zones_, std::back_inserter(tops), [](const std::string& zone) {
        return std::ranges::count(zone, ':') == 1;
      });
      return tops;
    }();
    advance();  // a counter that stands has no energy
    const Json before = energies();
    std::map<std::string, std::uint64_t> direct;
    for (const std::string& zone : zones_) direct[zone] = direct_uj(zone);
    advance();
    const Json after = energies();
    const auto passed = [&](const std::string& number, const char* key) {
      return after.at(number).at(key).get<double>() - before.at(number).at(key).get<double>();
    };
    EXPECT_EQ(after.size(), tops.size());
    for (const std::string& zone : tops) {
      const std::string number = zone.substr(zone.find(':') + 1);
      ASSERT_TRUE(after.contains(number)) << zone;
      EXPECT_TRUE(names().contains(std::stoi(number))) << zone;
      // The kernel rounds down what it shows.
      EXPECT_NEAR(passed(number, "cpu_energy_uj"),
                  static_cast<double>(direct_uj(zone) - direct[zone]), 10.0)
          << zone;
      const auto dram = drams.find(zone);
      if (dram == drams.end()) {
        EXPECT_TRUE(after.at(number).at("dram_energy_uj").is_null()) << zone;
      } else {
        EXPECT_NEAR(passed(number, "dram_energy_uj"),
                    static_cast<double>(direct_uj(dram->second) - direct[dram->second]), 10.0)
            << zone;
      }
    }
  }
  /// The names in /discover, by number.
  [[nodiscard]] std::map<int, std::string> names() const {
    std::map<int, std::string> names;
    const Json found = parse_json(get("/discover").body);
    for (const Json& cpu : found["cpus"]) names[cpu["id"]] = cpu["domain"];
    return names;
  }

  std::vector<std::string> zones_;
  std::uint64_t steps_ = 0;
};

TEST_F(ZeusZones, ThePlatformIsACpuOfItsOwn) {
  add("intel-rapl:0", "package-0");
  add("intel-rapl:0:0", "dram");
  add("intel-rapl:1", "psys");
  add("intel-rapl:2", "package-1");
  add("intel-rapl:2:0", "dram");
  expect_energies_of_zones(
      {{"intel-rapl:0", "intel-rapl:0:0"}, {"intel-rapl:2", "intel-rapl:2:0"}});
  EXPECT_EQ(names(), (std::map<int, std::string>{{0, "package_0"}, {1, "psys"}, {2, "package_1"}}));
}

TEST_F(ZeusZones, EachDieIsACpu) {
  add("intel-rapl:0", "package-0-die-0");
  add("intel-rapl:0:0", "dram");
  add("intel-rapl:1", "package-0-die-1");
  add("intel-rapl:2", "package-1-die-0");
  add("intel-rapl:3", "package-1-die-1");
  add("intel-rapl:3:0", "dram");
  expect_energies_of_zones(
      {{"intel-rapl:0", "intel-rapl:0:0"}, {"intel-rapl:3", "intel-rapl:3:0"}});
  EXPECT_EQ(names().at(3), "package_1_die_1");
}

TEST_F(ZeusZones, SocketsMayBeInAnotherOrder) {
  add("intel-rapl:0", "package-1");
  add("intel-rapl:0:0", "dram");
  add("intel-rapl:1", "package-0");
  expect_energies_of_zones({{"intel-rapl:0", "intel-rapl:0:0"}});
  EXPECT_EQ(names(), (std::map<int, std::string>{{0, "package_1"}, {1, "package_0"}}));
}

TEST_F(ZeusZones, NumbersMayHaveGaps) {
  add("intel-rapl:1", "package-0");
  add("intel-rapl:4", "package-3");
  expect_energies_of_zones({});
}

// Linux 6.9 to 6.11: the same counter once a die.
TEST_F(ZeusZones, OfAmdShowThePackageUnderEachNumber) {
  tree_.set_cpu_info("processor\t: 0\nvendor_id\t: AuthenticAMD\n");
  add("intel-rapl:0", "package-0-die-0");
  add("intel-rapl:1", "package-0-die-1");
  serve({}, "");
  EXPECT_EQ(names(), (std::map<int, std::string>{{0, "package_0"}, {1, "package_0"}}));
  advance();
  const Json energy = energies();
  EXPECT_EQ(energy["0"]["cpu_energy_uj"], energy["1"]["cpu_energy_uj"]);
  advance();
  const std::string metrics = get("/metrics").body;
  const auto count = [&](std::string_view text) {
    std::size_t found = 0;
    for (std::size_t at = metrics.find(text); at != std::string::npos;
         at = metrics.find(text, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("wattle_energy_joules_total{domain=\"package_0\""), 1U);
}

}  // namespace
}  // namespace wattle::integration
