// The energy of the units of one tag, or of one phase of them: sums, distribution, and how it
// varies from one block of time to the next. Bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/numbers/moments.hpp"
#include "units/unit_sketch.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

/// Uncertainty added to an interval beside the variation in time; all in joules per joule of the
/// sum.
struct SumDoubt {
  double relative = 0.0;  ///< ± (k = 2) of the measured sum
  double spilled = 0.0;   ///< what may be missing in the sum
  double block_s = 0.0;   ///< shortest block that counts as independent
};

/// The mean energy of units by another number of theirs, in groups of a factor of 2.
class UnitGroups {
 public:
  /// Ignores a number or an energy that is not above 0.
  void add(double number, double joules) noexcept;
  [[nodiscard]] std::vector<UnitGroup> found() const;

 private:
  struct GroupSums {
    std::uint64_t count = 0;
    double numbers = 0.0;
    double joules = 0.0;
  };
  static constexpr int kLeastExponent = -16;  ///< numbers beyond are in the first or last group
  std::array<GroupSums, 64> groups_{};
};

/// A unit that has ended.
struct EndedUnit {
  std::int64_t end_ns = 0;
  double joules = 0.0;
  double length_s = 0.0;
  double work = 0.0;
  std::uint64_t running = 0;  ///< units that ran when it started, itself included
};

/// Threads: one at a time.
class TagFigures {
 public:
  void add(const EndedUnit& unit);
  /// Adds a phase, which counts no work.
  void add_phase(std::int64_t end_ns, double joules, double length_s);
  void add_unknown() noexcept { ++unknown_; }
  void add_short() noexcept { ++short_; }

  /// One has ended, with or without a known energy.
  [[nodiscard]] bool has_units() const noexcept { return count_ + unknown_ > 0; }
  /// Everything but names and what a regression finds.
  [[nodiscard]] UnitTag summary(const SumDoubt& doubt) const;

 private:
  struct Block {
    double count = 0.0;
    double joules = 0.0;
    double work = 0.0;
    Block& operator+=(const Block& other) noexcept {
      count += other.count;
      joules += other.joules;
      work += other.work;
      return *this;
    }
  };
  /// Full, they are joined two by two.
  static constexpr std::size_t kBlocks = 64;

  Block& block_at(std::int64_t end_ns) noexcept;
  /// The standard error of a ratio of sums; absent with too few blocks.
  struct RatioError {
    double standard = 0.0;
    double critical = 0.0;  ///< for 95 %
  };
  [[nodiscard]] std::optional<RatioError> ratio_error(double Block::*below,
                                                      double shortest_s) const;

  std::uint64_t count_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t short_ = 0;
  double joules_ = 0.0;
  double seconds_ = 0.0;
  double work_ = 0.0;
  Moments moments_{};
  std::array<Block, kBlocks> blocks_{};
  std::size_t used_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t block_ns_ = 0;
  /// Figures that phases do not have, since they take room.
  struct Spread {
    UnitSketch sketch;
    UnitGroups by_running;
    UnitGroups by_work;
  };
  std::unique_ptr<Spread> spread_;
};

}  // namespace wattle::detail
