// Made by scripts/server-power --write from data/server-power.csv. Do not edit.
#include "estimate/server_power.hpp"

namespace wattle {
namespace {

// clang-format off
constexpr std::array<ServerPower, 22> kKnown = {{
    {"amd-epyc-gen1", "AMD EPYC gen 1 (Naples)", 10, {0.638, 0.953, 1.87}, {0.447, 0.668, 0.918}, {0.366, 0.609, 0.829}, {32, 32, 32}, true},
    {"amd-epyc-gen2", "AMD EPYC gen 2 (Rome)", 36, {0.578, 0.881, 1.73}, {0.473, 0.708, 0.972}, {0.415, 0.69, 0.94}, {64, 64, 64}, true},
    {"amd-epyc-gen3", "AMD EPYC gen 3 (Milan)", 28, {0.581, 0.868, 1.7}, {0.559, 0.836, 1.15}, {0.495, 0.824, 1.13}, {64, 64, 64}, true},
    {"amd-epyc-gen4", "AMD EPYC gen 4 (Genoa, Bergamo, Siena)", 71, {0.67, 0.859, 2.04}, {0.67, 0.86, 1.22}, {0.51, 0.874, 1.31}, {32, 96, 128}, true},
    {"amd-epyc-gen5", "AMD EPYC gen 5 (Turin)", 41, {0.548, 0.819, 1.01}, {0.744, 0.871, 1.16}, {0.77, 0.909, 1.25}, {96, 160, 192}, true},
    {"amd-neoverse-n1", "Arm Neoverse N1", 7, {0.649, 0.968, 1.9}, {0.286, 0.428, 0.692}, {0.162, 0.269, 0.63}, {64, 128, 128}, false},
    {"intel-nehalem", "Intel Nehalem", 57, {0.924, 1.33, 2.38}, {0.735, 1.24, 1.58}, {0.652, 1.19, 1.61}, {4, 4, 4}, true},
    {"intel-westmere", "Intel Westmere", 82, {0.823, 1.19, 2.45}, {0.705, 1.13, 1.4}, {0.669, 1.1, 1.3}, {6, 6, 6}, true},
    {"intel-sandybridge", "Intel Sandy Bridge", 132, {0.471, 0.877, 1.77}, {0.551, 1, 1.68}, {0.557, 1.08, 1.75}, {4, 8, 8}, true},
    {"intel-ivybridge", "Intel Ivy Bridge", 12, {0.534, 0.797, 1.75}, {0.495, 0.74, 1.09}, {0.416, 0.692, 0.984}, {4, 4, 10}, true},
    {"intel-haswell", "Intel Haswell", 22, {0.461, 0.589, 2.38}, {0.518, 0.783, 1.51}, {0.491, 0.872, 1.19}, {4, 18, 18}, true},
    {"intel-broadwell", "Intel Broadwell", 17, {0.346, 0.516, 1.86}, {0.476, 0.712, 1.3}, {0.475, 0.79, 1.18}, {16, 22, 22}, true},
    {"intel-skylake-server", "Intel Skylake server", 77, {0.401, 0.621, 1.81}, {0.768, 1.03, 1.49}, {0.675, 1.12, 1.42}, {28, 28, 28}, true},
    {"intel-cascadelake", "Intel Cascade Lake", 77, {0.394, 0.762, 2}, {0.724, 0.993, 1.4}, {0.691, 1.08, 1.35}, {24, 28, 28}, true},
    {"intel-cooperlake", "Intel Cooper Lake", 8, {0.481, 1.06, 2.07}, {0.777, 1.16, 1.6}, {0.727, 1.21, 1.65}, {28, 28, 28}, true},
    {"intel-icelake", "Intel Ice Lake", 47, {0.94, 1.37, 3.3}, {0.773, 1.21, 1.66}, {0.581, 1.15, 1.62}, {24, 40, 40}, true},
    {"intel-sapphirerapids", "Intel Sapphire Rapids", 68, {1.18, 1.6, 4.47}, {1.05, 1.5, 1.98}, {0.84, 1.47, 2.02}, {32, 56, 60}, true},
    {"intel-emeraldrapids", "Intel Emerald Rapids", 32, {1.05, 1.57, 3.08}, {0.894, 1.34, 2.2}, {0.748, 1.36, 2.6}, {32, 64, 64}, true},
    {"intel-sierraforest", "Intel Sierra Forest", 20, {0.818, 1.22, 2.39}, {0.601, 0.898, 1.24}, {0.455, 0.757, 1.05}, {144, 144, 144}, false},
    {"intel-graniterapids", "Intel Granite Rapids", 27, {1.07, 1.61, 3.15}, {0.925, 1.38, 2.01}, {0.83, 1.38, 2.17}, {86, 86, 128}, true},
    {"intel-coffeelake", "Intel Coffee Lake", 9, {0.332, 0.495, 0.968}, {0.453, 0.693, 0.951}, {0.454, 0.808, 1.1}, {6, 6, 8}, true},
    {"intel-rocketlake", "Intel Rocket Lake", 15, {0.39, 0.608, 1.19}, {0.42, 0.628, 0.863}, {0.403, 0.671, 0.914}, {6, 8, 8}, true},
}};
constexpr ServerPower kEveryone =
    {"", "", 895, {0.461, 0.966, 2.38}, {0.551, 1.02, 1.75}, {0.51, 1.05, 1.81}, {6, 28, 128}, true};
constexpr ServerScales kScales =
    {{2.8204, 0.9545, 0.3238}, {3.8670, 1.0600, 0.4313}, {3.4355, 1.0960, 0.4677}};
constexpr std::string_view kCheck =
    "95 % of 895 servers of a microarchitecture that was left out lie inside; it overlaps 1.15 to 1.5 times the CPU and DRAM power of 44 of 45 loads of the 7 cloud hosts that it was tuned on";
// clang-format on

}  // namespace

std::span<const ServerPower> known_server_power() noexcept { return kKnown; }
const ServerPower& server_power_of_everyone() noexcept { return kEveryone; }
const ServerScales& server_scales() noexcept { return kScales; }
std::string_view server_power_check() noexcept { return kCheck; }

}  // namespace wattle
