// The power of a domain beside the weights that run: how late the sensor is, what a unit of weight
// of each tag costs, and what does not follow the units. Bounded memory.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "units/block_regression.hpp"

namespace wattle::detail {

/// The regression of the power on the units.
struct LoadFit {
  /// Columns of the regression, in the order of `gains`; absent: all further ones together. One
  /// more gain follows, for the time within a block.
  std::vector<std::optional<std::uint16_t>> columns;
  BlockFit watts;  ///< per weight; `rows` is 0 if there was not enough to see
  bool is_curved = false;
  double mean_weight = 0.0;  ///< that runs, over all the time
  double mean_power = 0.0;
  double slope = 0.0;  ///< what one more unit of weight adds, at the mean
};

/// Above it no cost of a tag is reported.
inline constexpr double kMostInflation = 10.0;

/// Threads: one at a time.
class LoadSeries {
 public:
  /// `lag`: as the user knows it; absent: it is sought.
  explicit LoadSeries(std::optional<std::chrono::nanoseconds> lag);

  /// In the order of time: so much more weight of a tag runs, in steps.
  void add(std::int64_t at_ns, std::uint16_t tag, std::int64_t weight);
  void add_energy(std::int64_t begin_ns, std::int64_t end_ns, std::optional<double> joules);
  /// All events from before `until_ns` were added.
  void advance(std::int64_t until_ns);

  /// How late the sensor shows a change.
  [[nodiscard]] std::int64_t lag_ns() const noexcept { return lag_ns_; }
  [[nodiscard]] LoadFit fit() const;

 private:
  /// Tags that have a column of their own; all others share the last one.
  static constexpr std::size_t kOwnColumns = 12;
  static constexpr std::size_t kColumns = kOwnColumns + 1;
  static constexpr std::int64_t kGridNs = 5'000'000;
  static constexpr std::int64_t kLagStepNs = 20'000'000;
  static constexpr std::size_t kLags = 16;  ///< 0 to 300 ms
  static constexpr std::size_t kMostBins = 4096;
  /// A chunk is put into bins when this number of others have followed: the lag is known better
  /// then.
  static constexpr std::size_t kWaitingChunks = 4;
  using Columns = std::array<double, kColumns>;

  struct LoadEnergy {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double joules = 0.0;
  };
  struct LoadBin {
    Columns weights{};
    double seconds = 0.0;
    double joules = 0.0;
    std::uint32_t chunk = 0;
    std::uint32_t parts = 1;  ///< bins that were joined to it
  };
  /// Sums over all bins.
  struct BinTotals {
    Columns weights{};
    double all_weights = 0.0;
    double seconds = 0.0;
    double joules = 0.0;
  };
  /// On the weights and the drift of the idle power in a block; the curved one also on the square
  /// of the weight's distance from its mean.
  struct BinRegressions {
    BlockRegression straight;
    BlockRegression curved;
  };
  /// Sums over all rows without the mean of their chunk, at one lag.
  struct LagSums {
    std::array<double, kColumns * kColumns> xx{};
    Columns xy{};
    double yy = 0.0;
  };

  [[nodiscard]] std::size_t column_of(std::uint16_t column);
  void pass_grid(std::int64_t at_ns);
  void drop_from_grid(std::size_t count);
  [[nodiscard]] bool integrals_at(std::int64_t at_ns, Columns& integrals) const;
  [[nodiscard]] bool weights_of(const LoadEnergy& row, std::int64_t lag_ns, Columns& weights) const;
  [[nodiscard]] std::int64_t bin_ns() const noexcept;
  [[nodiscard]] std::int64_t chunk_ns() const noexcept;
  [[nodiscard]] std::size_t covered_rows() const noexcept;
  [[nodiscard]] bool is_grid_full() const noexcept;
  void finish_chunk(std::size_t rows);
  void bin_chunk();
  void seek_lag(std::size_t rows);
  [[nodiscard]] bool add_at_lag(std::size_t lag, std::size_t rows);
  [[nodiscard]] double residual(const LagSums& sums) const;
  void choose_lag();
  [[nodiscard]] LoadSeries finished() const;
  [[nodiscard]] BinTotals totals() const noexcept;
  /// `used`: the columns with weight.
  [[nodiscard]] BinRegressions regressions(const std::vector<std::size_t>& used,
                                           double mean_weight) const;
  void add_bin(const LoadBin& bin);
  void join_bins();

  bool seeks_lag_;
  std::int64_t lag_ns_ = 0;

  // Integrals of the running weights, in weight x seconds.
  std::vector<std::uint16_t> known_;  ///< tags with a column of their own
  std::array<std::int64_t, kColumns> running_{};
  std::array<std::int64_t, kColumns> since_ns_{};
  Columns integrals_{};
  std::vector<Columns> grid_;
  std::int64_t grid_first_ns_ = 0;  ///< the time of grid_[0]; 0: no event yet
  std::int64_t grid_next_ns_ = 0;

  std::vector<LoadEnergy> rows_;
  std::deque<std::vector<LoadEnergy>> chunks_;  ///< that wait
  LoadEnergy open_{};
  std::uint64_t readings_ = 0;
  double readings_s_ = 0.0;
  std::array<LagSums, kLags> lags_{};
  std::uint64_t lag_rows_ = 0;
  std::vector<LoadBin> bins_;
  std::uint32_t chunk_ = 0;
  std::uint32_t per_bin_ = 1;  ///< bins that are joined to one; a block is as many chunks
};

}  // namespace wattle::detail
