// A load of known power: drives the counters of a powercap tree by its own clock, then prints how
// many ticks each one counted.
//
//   powercap_player DURATION_MS [ZONE_FOLDER WATTS TICK_J NANOJOULES START_TICKS]...
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <thread>
#include <vector>

#include "fakes/powercap_tree.hpp"

namespace {

using wattle::fakes::KernelUnit;

struct PlayedZone {
  std::filesystem::path folder;
  double power_w;
  KernelUnit unit;
  std::uint64_t start_ticks;

  [[nodiscard]] std::uint64_t ticks_after(double seconds) const {
    return static_cast<std::uint64_t>(power_w * seconds / unit.tick_j);
  }
};

std::vector<PlayedZone> parse_zones(char** begin, char** end) {
  std::vector<PlayedZone> zones;
  for (char** word = begin; end - word >= 5; word += 5) {
    zones.push_back({.folder = word[0],
                     .power_w = std::atof(word[1]),
                     .unit = {std::atof(word[2]), std::strtoull(word[3], nullptr, 10)},
                     .start_ticks = std::strtoull(word[4], nullptr, 10)});
  }
  return zones;
}

void play(const std::vector<PlayedZone>& zones, std::chrono::milliseconds duration) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::chrono::duration<double> elapsed{0};
  while (elapsed < duration) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    elapsed = Clock::now() - begin;
    for (const PlayedZone& zone : zones) {
      const std::uint64_t ticks = zone.start_ticks + zone.ticks_after(elapsed.count());
      wattle::fakes::set_energy_uj(zone.folder, zone.unit.energy_uj(ticks));
    }
  }
  for (const PlayedZone& zone : zones) {
    std::printf("%s %llu\n", zone.folder.filename().c_str(),
                static_cast<unsigned long long>(zone.ticks_after(elapsed.count())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  try {
    play(parse_zones(argv + 2, argv + argc), std::chrono::milliseconds(std::atoi(argv[1])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "powercap_player: %s\n", error.what());
    return 1;
  }
  return 0;
}
