// Random numbers that are the same at every run, with every standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace wattle::lab {

/// 64 well mixed bits of `index` under `seed`: a sequence that can be asked for in any order, so
/// that a sensor needs no history to say what it shows at a time.
[[nodiscard]] constexpr std::uint64_t hash(std::uint64_t seed, std::uint64_t index) noexcept {
  std::uint64_t bits = seed * 0xd1342543de82ef95U + index * 0x9e3779b97f4a7c15U;
  for (int round = 0; round < 2; ++round) {
    bits ^= bits >> 32U;
    bits *= 0xd6e8feb86659fd93U;
  }
  return bits ^ (bits >> 32U);
}

/// Uniform in [0, 1).
[[nodiscard]] constexpr double unit_interval(std::uint64_t bits) noexcept {
  constexpr double kStep = 0x1p-53;
  return static_cast<double>(bits >> 11U) * kStep;
}

/// Threads: one at a time.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : seed_(seed) {}

  constexpr std::uint64_t bits() noexcept { return hash(seed_, next_++); }
  constexpr double uniform() noexcept { return unit_interval(bits()); }
  constexpr double uniform(double low, double high) noexcept {
    return low + (high - low) * uniform();
  }
  constexpr bool chance(double probability) noexcept { return uniform() < probability; }
  double exponential(double mean) noexcept { return -mean * std::log(1.0 - uniform()); }
  /// Of mean 0 and standard deviation 1, by Box and Muller.
  double normal() noexcept {
    const double radius = std::sqrt(exponential(2.0));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

}  // namespace wattle::lab
