// Whether the rows of one number are of one GPU: two machines may write to one file.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "run_monitor/tables/table_figures.hpp"

namespace wattle {

/// Figures that change slowly, or never.
struct SlowFigures {
  std::optional<std::int64_t> time_ms{};
  double temperature = -1.0;  ///< below 0: unknown, as `used_mib`
  double used_mib = -1.0;
};

/// True if they may be of one GPU at nearly the same time.
[[nodiscard]] inline bool are_like(const SlowFigures& one, const SlowFigures& other) noexcept {
  constexpr double kDegrees = 3.0;
  constexpr double kOfMemory = 0.05;
  const bool has_memory = one.used_mib >= 0.0 && other.used_mib >= 0.0;
  const double most_mib = std::max({1.0, one.used_mib, other.used_mib});
  if (has_memory && std::abs(one.used_mib - other.used_mib) > kOfMemory * most_mib) return false;
  const bool has_temperature = one.temperature >= 0.0 && other.temperature >= 0.0;
  return !has_temperature || std::abs(one.temperature - other.temperature) < kDegrees;
}

/// Takes the rows of a name that two machines may have given: of anything but a UUID. Memory does
/// not grow with them. Threads: one at a time.
class SharedNumber {
 public:
  void add(const GpuRow& row) noexcept;
  /// The evidence that the rows are of several GPUs; empty if there is none.
  [[nodiscard]] std::string evidence() const;

 private:
  std::optional<double> total_mib_;
  std::optional<double> other_total_mib_;
  std::uint32_t model_ = 0;
  bool has_other_model_ = false;
  std::uint64_t rows_ = 0;
  std::uint64_t back_ = 0;       ///< rows before the one that precedes them in the table
  std::uint64_t alternate_ = 0;  ///< rows that continue not the last one, but the one before
  SlowFigures last_;
  SlowFigures before_last_;
};

inline void SharedNumber::add(const GpuRow& row) noexcept {
  if (row.memory_total.is_number()) {
    if (!total_mib_) total_mib_ = row.memory_total.value();
    if (row.memory_total.value() != *total_mib_) other_total_mib_ = row.memory_total.value();
  }
  if (row.model != 0) {
    if (model_ == 0) model_ = row.model;
    has_other_model_ = has_other_model_ || row.model != model_;
  }
  constexpr double kUnknown = -1.0;
  const SlowFigures now = {.time_ms = row.time_ms,
                           .temperature = row.temperature.value_or(kUnknown),
                           .used_mib = row.memory.value_or(kUnknown)};
  if (now.time_ms && last_.time_ms && *now.time_ms < *last_.time_ms) ++back_;
  if (++rows_ > 2 && !are_like(now, last_) && are_like(now, before_last_)) ++alternate_;
  before_last_ = std::exchange(last_, now);
}

inline std::string SharedNumber::evidence() const {
  if (other_total_mib_) {
    return fmt::format("memory.total is {:.0f} and {:.0f} MiB", *total_mib_, *other_total_mib_);
  }
  if (has_other_model_) return "the name changes";
  // A clock is set back now and then; two of them, again and again.
  constexpr std::uint64_t kOften = 3;
  constexpr std::uint64_t kOfRows = 50;
  if (back_ > kOften && back_ * kOfRows > rows_) return "times go back again and again";
  constexpr std::uint64_t kFewest = 20;
  if (rows_ >= kFewest && alternate_ * 5 > rows_ * 4) {
    return "temperature or memory in use alternate from row to row";
  }
  return {};
}

}  // namespace wattle
