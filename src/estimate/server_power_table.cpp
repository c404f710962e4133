// Made by scripts/server-power --write from data/server-power.csv. Do not edit.
#include "estimate/server_power.hpp"

namespace wattle {
namespace {

// clang-format off
constexpr std::array<ServerPower, 22> kKnown = {{
    {"amd-epyc-gen1", "AMD EPYC gen 1 (Naples)", 10, {0.519, 0.744, 1.61}, {1.74, 2.32, 4.35}, {1.1, 1.6, 2.74}},
    {"amd-epyc-gen2", "AMD EPYC gen 2 (Rome)", 36, {0.282, 0.437, 0.788}, {1.48, 1.66, 2}, {0.958, 1.22, 1.5}},
    {"amd-epyc-gen3", "AMD EPYC gen 3 (Milan)", 28, {0.295, 0.424, 0.747}, {1.58, 1.92, 2.33}, {1.06, 1.48, 1.79}},
    {"amd-epyc-gen4", "AMD EPYC gen 4 (Genoa, Bergamo, Siena)", 72, {0.205, 0.322, 2.15}, {1.16, 1.65, 4.22}, {0.96, 1.3, 2.09}},
    {"amd-epyc-gen5", "AMD EPYC gen 5 (Turin)", 43, {0.174, 0.217, 0.859}, {1.04, 1.18, 4.34}, {0.846, 0.965, 3.48}},
    {"amd-neoverse-n1", "Arm Neoverse N1", 7, {0.431, 0.617, 1.28}, {1.1, 1.92, 3.12}, {0.542, 0.977, 1.48}},
    {"intel-nehalem", "Intel Nehalem", 58, {2.98, 4.35, 8.15}, {10.2, 14.1, 25}, {6.51, 8.97, 16.9}},
    {"intel-westmere", "Intel Westmere", 82, {2.02, 2.82, 5.46}, {7.1, 10.2, 12.6}, {4.88, 7.27, 8.17}},
    {"intel-sandybridge", "Intel Sandy Bridge", 132, {1.44, 1.76, 4.15}, {5.92, 7.88, 13.5}, {3.96, 6.08, 9.75}},
    {"intel-ivybridge", "Intel Ivy Bridge", 12, {1.3, 2.19, 9.15}, {5.05, 7.01, 17.5}, {3.37, 5.01, 8.28}},
    {"intel-haswell", "Intel Haswell", 22, {0.541, 0.7, 20.8}, {3.66, 3.99, 32.8}, {2.93, 3.27, 12}},
    {"intel-broadwell", "Intel Broadwell", 17, {0.369, 0.53, 2.11}, {2.31, 3.09, 7.56}, {1.78, 2.58, 5.45}},
    {"intel-skylake-server", "Intel Skylake server", 78, {0.352, 0.53, 0.923}, {3.14, 4.12, 4.58}, {2.45, 3.62, 3.98}},
    {"intel-cascadelake", "Intel Cascade Lake", 77, {0.42, 0.603, 1.95}, {2.96, 4.04, 5.9}, {2.33, 3.32, 3.96}},
    {"intel-cooperlake", "Intel Cooper Lake", 8, {0.398, 0.866, 1.79}, {3.21, 4.63, 7.52}, {2.59, 3.76, 5.67}},
    {"intel-icelake", "Intel Ice Lake", 47, {0.687, 0.949, 1.84}, {3.14, 4.12, 5.32}, {2.23, 3.12, 4.1}},
    {"intel-sapphirerapids", "Intel Sapphire Rapids", 68, {0.633, 0.899, 1.95}, {2.72, 4, 6.44}, {1.95, 3.02, 4.06}},
    {"intel-emeraldrapids", "Intel Emerald Rapids", 33, {0.523, 0.82, 1.95}, {2.2, 3.28, 7.63}, {1.52, 2.41, 6.81}},
    {"intel-sierraforest", "Intel Sierra Forest", 20, {0.319, 0.694, 1.31}, {1, 2.56, 3.15}, {0.668, 1.78, 2.33}},
    {"intel-graniterapids", "Intel Granite Rapids", 30, {0.235, 0.595, 1.14}, {1.15, 2.69, 3.81}, {0.921, 2.01, 3.14}},
    {"intel-coffeelake", "Intel Coffee Lake", 9, {0.733, 1.05, 2.17}, {3.32, 5.98, 9.7}, {2.33, 4.83, 7.3}},
    {"intel-rocketlake", "Intel Rocket Lake", 15, {0.894, 1.28, 2.65}, {3.65, 4.88, 7.92}, {2.49, 3.61, 5.45}},
}};
constexpr std::array<ServerPower, 3> kVendors = {{
    {"amd", "AMD", 256, {0.174, 0.422, 13.9}, {1.04, 1.85, 25}, {0.846, 1.45, 12.2}},
    {"arm", "Arm", 10, {0.428, 0.614, 2.07}, {0.7, 1.84, 4.3}, {0.164, 0.878, 2.23}},
    {"intel", "Intel", 822, {0.235, 1.47, 20.8}, {1, 5.39, 32.8}, {0.668, 3.97, 16.9}},
}};
constexpr ServerPower kEveryone =
    {"", "", 1088, {0.174, 1.12, 20.8}, {0.7, 4.45, 32.8}, {0.164, 3.66, 16.9}};
// clang-format on

}  // namespace

std::span<const ServerPower> known_server_power() noexcept { return kKnown; }
std::span<const ServerPower> server_power_of_vendors() noexcept { return kVendors; }
const ServerPower& server_power_of_everyone() noexcept { return kEveryone; }

}  // namespace wattle
