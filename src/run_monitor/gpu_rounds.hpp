// Which row is of which GPU, in a table that does not say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "run_monitor/table_figures.hpp"

namespace wattle {

/// `nvidia-smi` writes one row for each GPU, in their order, and then waits: a round. The times of
/// a round's rows are the same, or differ by some milliseconds. How many GPUs there are, and from
/// which gap on it has waited, is what makes most rounds of the first thousand rows equally long.
///
/// A round that lacks rows is used for no GPU: it is unknown which are missing. A round that was
/// held up in the middle is put together again. Threads: one at a time.
class GpuRowAssigner {
 public:
  /// A row, and the place of its GPU among all; absent where that is not known.
  struct AssignedRow {
    GpuRow row;
    std::optional<std::size_t> place{};
  };

  /// Takes the next row. The rows whose places are found by that are added to `placed`.
  void add(const GpuRow& row, std::vector<AssignedRow>& placed);
  /// There are no more rows: adds those that are left to `placed`.
  void end(std::vector<AssignedRow>& placed);
  /// True if the GPUs of the rows cannot be separated; then all have the place 0.
  [[nodiscard]] bool is_unclear() const noexcept { return unclear_; }

 private:
  using Rows = std::vector<GpuRow>;
  void learn();
  void place(const GpuRow& row, std::vector<AssignedRow>& placed);
  void close(std::vector<AssignedRow>& placed);
  static void drop(Rows& rows, std::vector<AssignedRow>& placed);
  static void give(Rows& rows, std::vector<AssignedRow>& placed);

  bool learned_ = false;
  bool unclear_ = false;
  Rows first_;                   ///< until it is known how to separate rounds
  std::size_t gpus_ = 1;         ///< rows of a round
  std::int64_t longest_ms_ = 0;  ///< from one row of a round to the next
  std::int64_t pace_ms_ = 0;     ///< a typical gap between two rounds
  Rows begun_;                   ///< of the round that was held up, as it seems
  std::int64_t held_up_ms_ = 0;
  Rows round_;
  std::optional<std::int64_t> last_ms_{};
};

}  // namespace wattle
