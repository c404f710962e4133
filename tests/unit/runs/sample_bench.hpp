// A benchmark for tests.
#pragma once

#include <optional>

#include "runs/bench/bench_record.hpp"

namespace wattle {

[[nodiscard]] RunCost run_of(std::size_t round, double wall_s, std::optional<double> energy_j);

/// Two commands in six rounds; B takes about 10 % less.
[[nodiscard]] BenchRecord sample_bench(bool has_energy);

}  // namespace wattle
