// Assigns rows to GPUs, in a table that does not name them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run_monitor/rounds/board_links.hpp"
#include "run_monitor/rounds/place_swaps.hpp"
#include "run_monitor/rounds/round_model.hpp"
#include "run_monitor/rounds/round_solver.hpp"
#include "run_monitor/tables/table_figures.hpp"

namespace wattle {

/// `nvidia-smi` writes one row for each GPU, in their order, and then waits: a round. The times of
/// the rows, the sizes of the memories, and temperatures and memory in use, which change slowly,
/// show which rows are of one GPU (`solve_rounds`). A row for which they do not show it is used for
/// none. Where GPUs leave or come, or the writer was restarted, those that look alike cannot be
/// recognized: then only the sum of all GPUs is known. Takes the same memory for tables of any
/// length. Threads: one at a time.
class RowAssigner {
 public:
  /// Takes rows with their tracks: those of one GPU, if `outcome` is `each`. Absent where that is
  /// unknown.
  using TakeRows = std::function<void(std::span<const GpuRow> rows)>;
  enum class Outcome : std::uint8_t {
    each,        ///< each track is a GPU
    total_only,  ///< only the sum of all tracks is known
    unknown,     ///< neither
  };

  /// The number of GPUs, where something else shows it; before the first row.
  void expect_gpus(const ExpectedGpus& expected) { expected_ = expected; }

  /// Room for the next row, which may be of another line. `add` takes it.
  [[nodiscard]] GpuRow& next_row() {
    if (row_count_ == rows_.size()) make_room();
    return rows_[row_count_++];
  }
  /// Takes what `next_row` gave. True if it is time for `give`.
  [[nodiscard]] bool add() noexcept {
    return row_count_ >= kRowsAtATime || outcome_ == Outcome::unknown;
  }
  /// Gives `take` the rows whose tracks become known, in their order.
  void give(const TakeRows& take);
  /// There are no more rows: gives `take` those that are left.
  void end(const TakeRows& take);

  /// After `end`.
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
  /// Why not all is known, and which option helps; else empty.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  /// The place among the GPUs of a round; absent where it is not known.
  [[nodiscard]] std::optional<std::size_t> place_of(std::size_t track) const noexcept {
    return track < tracks_.size() ? tracks_[track].place : std::nullopt;
  }

 private:
  /// Rows that are kept at a time.
  static constexpr std::size_t kRowsAtATime = 2048;
  struct Track {
    static constexpr std::size_t kRecent = 3;
    std::array<RowTrace, kRecent> recent{};  ///< its last rows, `newest` and those before it
    std::size_t newest = 0;
    std::size_t rows = 0;  ///< in the order that is followed
    std::optional<std::size_t> place{};

    void add(const RowTrace& row) noexcept {
      newest = newest + 1 == kRecent ? 0 : newest + 1;
      recent[newest] = row;
      ++rows;
    }
    [[nodiscard]] const RowTrace& last() const noexcept { return recent[newest]; }
    [[nodiscard]] RowTrace settled() const noexcept {
      const std::array newest_first = {recent[newest], recent[(newest + 2) % kRecent],
                                       recent[(newest + 1) % kRecent]};
      return settled_board(Traces(newest_first).first(std::clamp<std::size_t>(rows, 1, kRecent)));
    }
  };
  /// The order that the rows follow now.
  struct Order {
    RoundModel model;
    std::size_t first = 0;            ///< the position of place 0
    std::vector<std::size_t> tracks;  ///< by place
    std::size_t last_position = 0;    ///< of the last row that was assigned
    RowTrace last;
    std::size_t rows = 0;  ///< that were assigned
    MemoryInUse memory;    ///< of the GPUs by place
    [[nodiscard]] std::size_t place_of(std::size_t position) const noexcept {
      return position >= first ? position - first : position + model.gpus() - first;
    }
    [[nodiscard]] std::size_t next_position() const noexcept {
      return last_position + 1 == model.gpus() ? 0 : last_position + 1;
    }
  };

  void make_room();
  /// Assigns rows that wait; all of them if `is_end`.
  void solve(bool is_end, const TakeRows& take);
  void read_traces();
  /// Follows the order while the rows do. Returns the first that does not, or their number.
  [[nodiscard]] std::size_t follow(std::size_t from);
  /// True if the rows from `from` on return to the order; then `from` is the first that is not
  /// assigned.
  [[nodiscard]] bool step_over(std::size_t& from);
  /// True for a row of that position and track, in its time after `last`.
  [[nodiscard]] bool is_usual(const RowTrace& row, const RowTrace& last, std::size_t position,
                              const Track& track) const noexcept;
  /// Before a row is added to a track.
  void note_jump(std::size_t track, const RowTrace& row) {
    const RowTrace& last = tracks_[track].last();
    if (last.used_mib == row.used_mib && last.total_mib == row.total_mib &&
        last.model == row.model) {
      return;
    }
    swaps_.add(track, last, row, order_->model.period_ms());
  }
  void assign(std::size_t trace, std::size_t position, bool is_sure);
  [[nodiscard]] GpuRow& row_of(std::size_t trace) noexcept { return rows_[trace_rows_[trace]]; }
  /// Looks for the order of the rows from `from` on, again.
  void find_orders(std::size_t from);
  void take_piece(const RoundPiece& piece, std::size_t begin, std::size_t end);
  [[nodiscard]] bool continues(const RoundPiece& piece, std::size_t begin) const;
  /// The track of each place.
  [[nodiscard]] std::vector<std::size_t> link(const RoundPiece& piece, std::size_t begin,
                                              std::size_t end, const Order& next);
  /// The track of a GPU that was at this place earlier, and not in the last order.
  [[nodiscard]] std::optional<std::size_t> earlier_track(std::size_t place,
                                                         const RowTrace& now) const;
  /// The rows before a change of the order may be of the next one.
  void forget_last_round();
  /// True if the writer may have stopped since the last row that was assigned.
  [[nodiscard]] bool is_after_break(std::size_t begin) const;
  void emit(std::size_t traces, const TakeRows& take);
  void doubt(Outcome outcome, std::string_view reason);
  void doubt_order();

  std::optional<ExpectedGpus> expected_;
  std::vector<GpuRow> rows_;               ///< that wait and the next one, then unused
  std::size_t row_count_ = 0;              ///< of those that are used
  std::vector<RowTrace> traces_;           ///< of those that are whole
  std::vector<std::uint32_t> trace_rows_;  ///< their places in `rows_`
  std::vector<std::size_t> positions_;     ///< of each trace, in its order
  std::size_t order_begin_ = 0;            ///< the first trace of `order_`
  std::size_t next_ = 0;                   ///< after the last trace that was assigned
  std::vector<Track> tracks_;
  std::optional<Order> order_;
  PlaceSwaps swaps_;
  std::uint32_t unlinked_orders_ = 0;
  std::size_t most_gpus_ = 0;  ///< of an order
  std::uint64_t whole_rows_ = 0;
  std::uint64_t ordered_rows_ = 0;  ///< whose position is known, if perhaps not for sure
  std::uint64_t assigned_rows_ = 0;
  Outcome outcome_ = Outcome::each;
  std::string reason_;
};

}  // namespace wattle
