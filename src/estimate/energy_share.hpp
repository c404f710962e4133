// How much of a measured energy belongs to a command: a balance that closes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/estimate.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// CPU time of all processors and of the command, since some start.
struct ShareMoment {
  TimePoint at;
  Seconds command{0};
  Seconds busy{0};
};

/// Moments of a run about equally far apart, at most `kMost` however long it lasts; the first and
/// the last are kept. Allocates at construction alone. Threads: one at a time.
class ShareMoments {
 public:
  static constexpr std::size_t kMost = 512;
  /// Shorter spans would be mostly rounding: the kernel counts busy time in 10 ms.
  static constexpr Seconds kShortest{0.95};

  ShareMoments() { moments_.reserve(kMost + 1); }
  void add(const ShareMoment& moment) noexcept;
  /// The end of the run, which always counts; a last span that is too short joins the one
  /// before.
  void end(const ShareMoment& moment) noexcept;
  [[nodiscard]] const std::vector<ShareMoment>& all() const noexcept { return moments_; }

 private:
  std::vector<ShareMoment> moments_;
  Seconds apart_ = kShortest;
};

/// The time between two moments.
struct ShareSpan {
  Seconds wall{0};
  Joules energy;       ///< measured
  Seconds command{0};  ///< CPU time
  Seconds busy{0};     ///< CPU time of everything, the command's too
};

/// The idle power in a baseline.
struct IdleRange {
  Watts low;
  Watts typical;
  Watts high;
  double busy_cpus = 0.0;  ///< CPU cores in use while it was measured: part of idle
};

/// Whole nanojoules, so that they add up exactly: idle + command + others + unexplained = measured.
/// A tick of a RAPL counter is 15,000 or more of them.
struct ShareBalance {
  std::int64_t measured_nj = 0;
  std::optional<std::int64_t> idle_nj{};  ///< absent where no baseline says
  std::int64_t command_nj = 0;
  std::int64_t others_nj = 0;
  std::int64_t unexplained_nj = 0;
  EnergyRange command{};  ///< where the command's part lies
  /// Less was measured than the baseline says of an idle machine at least: it was not used.
  bool is_below_idle = false;
};

/// The part of the energy above idle that belongs to one of two loads, by their CPU times.
struct PartRange {
  double low = 0.0;
  double typical = 0.0;
  double high = 0.0;
};
/// Absent where neither had any. docs/estimates.md derives it.
[[nodiscard]] std::optional<PartRange> part_of(Seconds own, Seconds others, Seconds wall) noexcept;

/// `measured`: the energy of all spans together, as it is reported. Without `baseline`, and where
/// the spans are below it, the lowest power of a span is an upper bound of the idle power.
[[nodiscard]] ShareBalance balance_of(std::span<const ShareSpan> spans, Joules measured,
                                      const std::optional<IdleRange>& baseline);

}  // namespace wattle
