// A counter that a test reads as it likes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "known_history.hpp"
#include "sampling/integrate.hpp"

namespace wattle {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

using Names = std::vector<std::string_view>;

/// Readings of a counter of half joules that goes around after 1000; at most 100 W.
class CounterEnergy : public testing::Test {
 protected:
  static Channel channel() {
    return {.domain = Domain::package(0),
            .counter = {.tick = Joules(0.5), .modulus = 1000, .max_power = Watts(100.0)},
            .update = {.mean = 1ms, .spread = 270us, .p99 = 2ms}};
  }

  void read(nanoseconds at, std::uint64_t raw, nanoseconds half_width = 0ns) {
    history_.add(
        {.at = kBegin + at, .half_width = half_width, .raw = raw, .status = ReadStatus::ok});
    if (!first_) first_ = history_.last();
  }
  void fail(nanoseconds at, ReadStatus status = ReadStatus::retry) {
    history_.add({.at = kBegin + at, .raw = 777, .status = status});
  }
  /// Between the first and the last value that were read.
  [[nodiscard]] EnergyFigure until(nanoseconds end) const {
    return counter_energy(
        history_, {.begin = kBegin, .end = kBegin + end, .first = first_, .last = history_.last()});
  }
  /// Between what lies at those times.
  [[nodiscard]] EnergyFigure between(nanoseconds begin, nanoseconds end) const {
    return counter_energy(history_, {.begin = kBegin + begin, .end = kBegin + end});
  }
  static Names names(const Flags& flags) {
    Names names;
    flags.each([&](std::string_view name) { names.push_back(name); });
    return names;
  }

  History history_{channel(), {.period = 1s}};
  std::optional<Boundary> first_;
};

}  // namespace wattle
