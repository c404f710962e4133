#include "run_monitor/rounds/row_assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "base/text/text.hpp"
#include "run_monitor/rounds/doubt_text.hpp"
#include "run_monitor/rounds/writer_restart.hpp"

namespace wattle {
namespace {

constexpr std::size_t kNoPosition = ~std::size_t{0};
/// Another position of a row must cost that much more.
constexpr float kSure = 8.0F;

std::uint32_t contents_of(const GpuRow& row) noexcept {
  std::uint64_t hash = 0;
  // Products that do not wait for each other; odd, and unlike.
  constexpr std::array<std::uint64_t, 5> kFactors = {0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9,
                                                     0x94D049BB133111EB, 0xD6E8FEB86659FD93,
                                                     0xA0761D6478BD642F};
  const std::array cells = {&row.util, &row.mem_util, &row.memory, &row.power, &row.temperature};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    hash += std::bit_cast<std::uint64_t>(cells[i]->value_or(0.0)) * kFactors[i];
  }
  return static_cast<std::uint32_t>(hash >> 32U);
}

RowTrace trace_of(const GpuRow& row, std::uint32_t torn_before) noexcept {
  const auto or_unknown = [](const Cell& cell) { return static_cast<float>(cell.value_or(-1.0)); };
  return {.time_ms = *row.time_ms,
          .torn_before = torn_before,
          .model = row.model,
          .contents = contents_of(row),
          .total_mib = or_unknown(row.memory_total),
          .used_mib = or_unknown(row.memory),
          .temperature = or_unknown(row.temperature)};
}

bool is_sure_of(const RoundPiece& piece, std::size_t i) noexcept {
  const std::size_t k = i - piece.begin;
  const bool is_only_one = piece.model.gpus() == 1;
  return (is_only_one || piece.path.margins[k] >= kSure) && piece.path.events[k] == 0.0F;
}

/// The memory in use of rows away from the ends, where the order may differ.
MemoryInUse memory_of(Traces rows, const RoundPiece& piece, std::size_t begin, std::size_t end,
                      std::size_t first) {
  const std::size_t n = piece.model.gpus();
  MemoryInUse memory(n);
  for (std::size_t i = begin + n; i + n < end; ++i) {
    const std::size_t position = piece.path.positions[i - piece.begin];
    if (is_sure_of(piece, i)) memory.add((position + n - first) % n, rows[i]);
  }
  return memory;
}

/// The GPUs at the start of a piece, by place. Its first rows may be of the order before.
std::vector<RowTrace> boards_of(Traces rows, const RoundPiece& piece, std::size_t begin,
                                std::size_t end, std::size_t first) {
  const std::size_t n = piece.model.gpus();
  std::vector<std::vector<RowTrace>> seen(n);
  for (std::size_t i = begin; i < end; ++i) {
    std::vector<RowTrace>& of_place = seen[(piece.path.positions[i - piece.begin] + n - first) % n];
    if (is_sure_of(piece, i) && of_place.size() < 3) of_place.push_back(rows[i]);
  }
  std::vector<RowTrace> boards(n);
  for (std::size_t place = 0; place < n; ++place) {
    if (!seen[place].empty()) boards[place] = settled_board(seen[place]);
  }
  return boards;
}

}  // namespace

void RowAssigner::doubt(Outcome outcome, std::string_view reason) {
  if (outcome <= outcome_) return;
  outcome_ = outcome;
  reason_ = reason;
}

void RowAssigner::doubt_order() {
  doubt(Outcome::unknown, expected_ ? doubt_of(*expected_, "follow no order for long") : kNoOrder);
}

void RowAssigner::make_room() { rows_.resize(std::max(kRowsAtATime, 2 * row_count_)); }

void RowAssigner::give(const TakeRows& take) {
  if (outcome_ != Outcome::unknown) return solve(false, take);
  GpuRow& row = rows_[--row_count_];
  row.track.reset();
  take({&row, 1});
}

void RowAssigner::end(const TakeRows& take) {
  solve(true, take);
  const bool is_ordered = ordered_rows_ * 10 >= whole_rows_ * 9;
  if (!is_ordered || assigned_rows_ * 10 < whole_rows_ * 6) doubt_order();
  if (order_ && expected_ && most_gpus_ != expected_->count) {
    doubt(Outcome::unknown,
          doubt_of(*expected_, fmt::format("are of {}", counted(most_gpus_, "GPU"))));
  }
  for (const Track& track : tracks_) {
    if (!track.place) doubt(Outcome::total_only, kAlike);
  }
  if (swaps_.is_found()) doubt(Outcome::total_only, kSwapped);
}

void RowAssigner::read_traces() {
  traces_.clear();
  trace_rows_.clear();
  std::uint32_t torn = 0;
  for (std::uint32_t i = 0; i < row_count_; ++i) {
    GpuRow& row = rows_[i];
    row.track.reset();
    if (!row.whole || !row.time_ms) {
      ++torn;
      continue;
    }
    row.order = unlinked_orders_;
    traces_.push_back(trace_of(row, std::exchange(torn, 0)));
    trace_rows_.push_back(i);
  }
  positions_.assign(traces_.size(), kNoPosition);
  next_ = 0;
  order_begin_ = 0;
}

void RowAssigner::solve(bool is_end, const TakeRows& take) {
  read_traces();
  std::size_t done = 0;
  while (order_ && done < traces_.size()) {
    const std::size_t gpus = order_->model.gpus();
    done = follow(done);
    if (done == traces_.size()) break;
    if (step_over(done)) continue;
    // Where the order changes at the end of the block, the next rows show how.
    const std::size_t rest = traces_.size() - done;
    if (!is_end && rest < kRowsAtATime / 2) {
      emit(done - std::min(done, 2 * gpus), take);
      return;
    }
    find_orders(done);
    done = traces_.size();
  }
  if (!order_ && !traces_.empty()) find_orders(0);
  const std::size_t held_back = order_ ? 2 * order_->model.gpus() : 0;
  emit(is_end ? traces_.size() : traces_.size() - std::min(traces_.size(), held_back), take);
}

bool RowAssigner::is_usual(const RowTrace& row, const RowTrace& last, std::size_t position,
                           const Track& track) const noexcept {
  const RoundModel& model = order_->model;
  const auto gap_ms = static_cast<double>(row.time_ms - last.time_ms);
  if (row.torn_before != 0 || row.is_copy_of(last)) return false;
  if (!model.is_usual_gap(order_->last_position, gap_ms)) return false;
  if (are_unlike(row, model.board(position))) return false;
  constexpr double kJump = 7.0;
  return continuity_cost(row, track.last()) < kJump;
}

void RowAssigner::assign(std::size_t trace, std::size_t position, bool is_sure) {
  const std::size_t track = order_->tracks[order_->place_of(position)];
  positions_[trace] = position;
  GpuRow& row = row_of(trace);
  row.order = unlinked_orders_;
  if (is_sure) row.track = static_cast<std::uint32_t>(track);
  note_jump(track, traces_[trace]);
  tracks_[track].add(traces_[trace]);
  order_->last_position = position;
  order_->last = traces_[trace];
  ++order_->rows;
  next_ = trace + 1;
}

// As `assign` does it, row by row: nearly all rows of most tables are usual ones.
std::size_t RowAssigner::follow(std::size_t from) {
  Order& order = *order_;
  const RowTrace* last = &order.last;
  const std::size_t begin = from;
  for (; from < traces_.size(); ++from) {
    const RowTrace& row = traces_[from];
    const std::size_t position = order.next_position();
    const std::size_t place = order.place_of(position);
    const std::size_t track = order.tracks[place];
    if (!is_usual(row, *last, position, tracks_[track])) break;
    order.memory.add(place, row);
    note_jump(track, row);
    tracks_[track].add(row);
    positions_[from] = position;
    row_of(from).track = static_cast<std::uint32_t>(track);
    order.last_position = position;
    last = &row;
  }
  if (from == begin) return from;
  order.last = *last;
  order.rows += from - begin;
  next_ = from;
  return from;
}

bool RowAssigner::step_over(std::size_t& from) {
  const RoundModel& model = order_->model;
  const std::size_t n = model.gpus();
  const std::size_t begin = from - std::min(from - std::min(from, order_begin_), 2 * n);
  if (begin == from) return false;
  for (std::size_t length = std::max<std::size_t>(16, 8 * n);; length *= 4) {
    const std::size_t end = std::min(traces_.size(), from + length);
    RoundPiece piece{.begin = begin, .end = end, .model = model};
    const Traces window = Traces(traces_).subspan(begin, end - begin);
    piece.path = find_path(window, model, positions_[begin]);
    const auto& events = piece.path.events;
    const std::size_t calm = std::min<std::size_t>(events.size(), 4 * n);
    const bool is_calm =
        n == 1 || std::all_of(events.end() - static_cast<std::ptrdiff_t>(calm), events.end(),
                              [](float event) { return event == 0.0F; });
    bool is_same = is_regular(piece.path, n);
    for (std::size_t i = begin + 1; i < end && is_same; ++i) {
      is_same = !may_be_restart(traces_, piece, i, order_->first);
    }
    const bool is_end = end == traces_.size();
    if (is_same && is_calm && end > from + 2 * n) {
      const std::size_t until = is_end ? end : end - 2 * n;
      for (std::size_t i = begin; i < until; ++i) {
        const std::size_t k = i - begin;
        row_of(i).track.reset();
        const bool is_sure = n == 1 || piece.path.margins[k] >= kSure;
        assign(i, piece.path.positions[k], is_sure && piece.path.is_copy[k] == 0);
      }
      from = until;
      return true;
    }
    if (is_end || length > kRowsAtATime / 2) return false;
  }
}

void RowAssigner::find_orders(std::size_t from) {
  const RoundSolution solution = solve_rounds(Traces(traces_).subspan(from), expected_);
  if (solution.doubt == RoundDoubt::gpus) {
    doubt(Outcome::unknown, expected_ ? doubt_of(*expected_, "do not fit") : kNoCountOfGpus);
  }
  if (solution.doubt == RoundDoubt::order) doubt_order();
  if (solution.lacks_gpus) doubt(Outcome::total_only, kAlike);
  for (RoundPiece piece : solution.pieces) {
    piece.begin += from;
    piece.end += from;
    const auto first = piece.model.first_position();
    std::size_t begin = piece.begin;
    for (std::size_t i = piece.begin + 1; i <= piece.end; ++i) {
      if (i < piece.end && !may_be_restart(traces_, piece, i, first)) continue;
      take_piece(piece, begin, i);
      begin = i;
    }
  }
}

void RowAssigner::take_piece(const RoundPiece& piece, std::size_t begin, std::size_t end) {
  const std::size_t n = piece.model.gpus();
  const auto first = piece.model.first_position();
  if (!first) doubt(Outcome::total_only, kNoFirst);
  const bool is_change = order_ && !continues(piece, begin);
  // If one GPU stays alone, all rows are its own.
  if (is_change && (n > 1 || order_->model.gpus() > 1)) forget_last_round();
  Order order{.model = piece.model,
              .first = first.value_or(0),
              .last = traces_[begin],
              .memory = memory_of(traces_, piece, begin, end, first.value_or(0))};
  order.tracks = link(piece, begin, end, order);
  for (const std::size_t track : order.tracks) tracks_[track].rows *= is_change ? 0 : 1;
  if (n > most_gpus_) {
    most_gpus_ = n;
    for (Track& track : tracks_) track.place.reset();
    for (std::size_t place = 0; place < n; ++place) tracks_[order.tracks[place]].place = place;
  }
  order_ = std::move(order);
  order_begin_ = begin;
  const RowRange whole =
      whole_rounds(piece.path, {.begin = begin - piece.begin, .end = end - piece.begin}, n);
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t k = i - piece.begin;
    const bool is_of_change = (is_change && i < begin + n) || k < whole.begin || k >= whole.end;
    const bool is_sure = n == 1 || (piece.path.margins[k] >= kSure && !is_of_change);
    assign(i, piece.path.positions[k], is_sure && piece.path.is_copy[k] == 0);
  }
}

void RowAssigner::forget_last_round() {
  const std::size_t n = order_->model.gpus();
  for (std::size_t i = next_ - std::min(next_, n); i < next_; ++i) row_of(i).track.reset();
}

bool RowAssigner::is_after_break(std::size_t begin) const {
  const double period_ms = order_->model.period_ms();
  std::int64_t last_ms = order_->last.time_ms;
  for (std::size_t i = next_; i <= begin; ++i) {
    const auto gap_ms = static_cast<double>(traces_[i].time_ms - last_ms);
    if (gap_ms < -300.0 || gap_ms > std::max(1.6 * period_ms, period_ms + 300.0)) return true;
    last_ms = traces_[i].time_ms;
  }
  return false;
}

bool RowAssigner::continues(const RoundPiece& piece, std::size_t begin) const {
  const std::size_t n = piece.model.gpus();
  if (n != order_->model.gpus() || next_ != begin) return false;
  const auto first = piece.model.first_position();
  const std::size_t position = piece.path.positions[begin - piece.begin];
  const std::size_t place = (position + n - first.value_or(0)) % n;
  if (!first || place != (order_->place_of(order_->last_position) + 1) % n) return false;
  const auto gap_ms = static_cast<double>(traces_[begin].time_ms - order_->last.time_ms);
  return order_->model.time_cost(order_->last_position, 0, gap_ms) < order_->model.outlier_cost();
}

std::vector<std::size_t> RowAssigner::link(const RoundPiece& piece, std::size_t begin,
                                           std::size_t end, const Order& next) {
  const std::size_t n = piece.model.gpus();
  std::vector<std::size_t> tracks(n);
  for (std::size_t place = 0; place < n; ++place) tracks[place] = place;
  if (!order_) {
    tracks_.resize(std::max(tracks_.size(), n));
    return tracks;
  }
  const bool is_only_one = expected_ && expected_->count == 1 && n == order_->model.gpus();
  if (is_only_one || continues(piece, begin)) return order_->tracks;
  const std::vector<RowTrace> now = boards_of(traces_, piece, begin, end, next.first);
  std::vector<RowTrace> before;
  for (const std::size_t track : order_->tracks) before.push_back(tracks_[track].settled());
  MemoryInUse memory_before = order_->memory;
  MemoryInUse memory_now = next.memory;
  for (std::size_t place = 0; place < before.size(); ++place)
    memory_before.add(place, before[place]);
  for (std::size_t place = 0; place < n; ++place) memory_now.add(place, now[place]);
  const MemoryEvidence memory = std::min(memory_before.evidence(), memory_now.evidence());
  std::optional<BoardLinks> links = link_boards(before, now, memory);
  if (!is_after_break(begin)) {
    if (links && !is_in_order(*links)) links.reset();
    const PlacedBoards placed{.boards = placed_of(piece.model, next.first, now),
                              .rounds = static_cast<double>(end - begin) / static_cast<double>(n)};
    const PlacedBoards placed_before{
        .boards = placed_of(order_->model, order_->first, before),
        .rounds = static_cast<double>(order_->rows) / static_cast<double>(before.size())};
    if (!links) links = link_in_order(placed_before, placed, memory);
  }
  if (!links) {
    doubt(Outcome::total_only, kAlike);
    ++unlinked_orders_;
    tracks_.resize(std::max(tracks_.size(), n));
    return tracks;
  }
  for (std::size_t place = 0; place < n; ++place) {
    std::optional<std::size_t> known;
    if ((*links)[place]) known = order_->tracks[*(*links)[place]];
    if (!known && n == most_gpus_) known = earlier_track(place, now[place]);
    tracks[place] = known.value_or(tracks_.size());
    if (!known) tracks_.emplace_back();
  }
  return tracks;
}

std::optional<std::size_t> RowAssigner::earlier_track(std::size_t place,
                                                      const RowTrace& now) const {
  for (std::size_t track = 0; track < tracks_.size(); ++track) {
    const bool is_there = std::ranges::find(order_->tracks, track) != order_->tracks.end();
    const bool is_place = tracks_[track].place == place;
    if (!is_there && is_place && !are_unlike(tracks_[track].last(), now)) return track;
  }
  return std::nullopt;
}

void RowAssigner::emit(std::size_t traces, const TakeRows& take) {
  const bool is_all = traces >= traces_.size();
  // An order cannot be followed from before its first row.
  traces = is_all ? traces_.size() : std::max(traces, std::min(traces_.size(), order_begin_ + 1));
  const std::size_t rows = is_all ? row_count_ : trace_rows_[traces - 1] + std::size_t{1};
  for (std::size_t i = 0; i < traces; ++i) {
    if (positions_[i] != kNoPosition) ++ordered_rows_;
    if (row_of(i).track) ++assigned_rows_;
  }
  take(std::span(rows_).first(rows));
  whole_rows_ += traces;
  // Rows that are left out have no position in the order.
  while (traces > 0 && positions_[traces - 1] == kNoPosition) --traces;
  if (order_ && traces > 0) {
    order_->last_position = positions_[traces - 1];
    order_->last = traces_[traces - 1];
  }
  order_begin_ = 0;
  const std::span rest = std::span(rows_).subspan(rows, row_count_ - rows);
  std::ranges::copy(rest, rows_.begin());
  row_count_ = rest.size();
}

}  // namespace wattle
