// What the cells of the table are put together from.
#pragma once

#include <cstdint>
#include <string_view>

#include "lab/world.hpp"

namespace wattle::lab {

inline constexpr std::uint64_t kIdleSeed = 10;
inline constexpr std::uint64_t kBurstSeed = 11;
inline constexpr std::uint64_t kNoiseSeed = 12;

/// Why the +- of an average need not be near the error.
inline constexpr std::string_view kUnknownFilter = "nobody knows the average's filter";

/// A board's own regularity; 99 to 101 ms were seen on ten boards of one model.
inline constexpr UpdateModel kGpuUpdate = {
    .mean_s = 0.1, .spread_s = 0.1e-3, .between_boards = 0.01};
inline constexpr UpdateModel kFastGpuUpdate = {
    .mean_s = 0.02, .spread_s = 0.02e-3, .between_boards = 0.01};

/// A gauge, and nothing else.
[[nodiscard]] Machine gpu(std::string_view name, const UpdateModel& update, double window_s);

/// A load that runs anyway, at a random phase.
[[nodiscard]] Load periodic(std::string_view name, const Waveform& shape);

/// Work between two stretches of idling, which begin and end with the window. Idle power is known
/// to within 3 W: it changes every few milliseconds.
[[nodiscard]] Load work(std::string_view name, const Waveform& shape, double idle_w);

/// A step somewhere in the window.
[[nodiscard]] Load step_inside(double before_w, double after_w, double window_s);

}  // namespace wattle::lab
