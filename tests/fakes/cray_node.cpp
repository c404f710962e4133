#include "fakes/cray_node.hpp"

#include <fmt/format.h>

#include <tuple>

namespace wattle::fakes {

namespace fs = std::filesystem;

CrayNode::CrayNode() {
  fs::permissions(folder_.path(), fs::perms(0755));  // for tests as another user
  fs::create_directories(folder_.path() / "proc");
  for (const auto& [part, joules, watts] :
       {std::tuple("", 46'378'192, 900), std::tuple("cpu_", 9'000'000, 200),
        std::tuple("memory_", 3'000'000, 60), std::tuple("accel0_", 12'000'000, 250),
        std::tuple("accel1_", 12'500'000, 260), std::tuple("accel2_", 0, 0)}) {
    set(fmt::format("{}energy", part), static_cast<std::uint64_t>(joules), "J");
    set(fmt::format("{}power", part), static_cast<std::uint64_t>(watts), "W");
  }
  set("power_cap", 0, "W");
  set("accel0_power_cap", 400, "W");
  set("cpu0_temp", 40, "C");
  write("freshness", "81230\n");
  write("generation", "1\n");
  write("raw_scan_hz", "10\n");
  write("startup", "1700000000000000\n");
  write("version", "2\n");
}

void CrayNode::set(std::string_view file, std::uint64_t value, std::string_view unit) {
  at_us_ += 100'000;
  write(file, fmt::format("{} {} {} us\n", value, unit, at_us_));
}

void CrayNode::write(std::string_view file, std::string_view content) const {
  folder_.write(fs::path("sys/cray/pm_counters") / file, content);
}

fs::path CrayNode::path(std::string_view file) const {
  return folder_.path() / "sys/cray/pm_counters" / file;
}

System CrayNode::system() const { return folder_.system(); }

}  // namespace wattle::fakes
