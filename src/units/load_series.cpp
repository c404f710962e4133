#include "units/load_series.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/numbers/student.hpp"
#include "units/unit_events.hpp"
#include "units/unit_time.hpp"

namespace wattle::detail {

namespace {

/// Rows of the search for the lag; several readings together where these come more often.
constexpr std::int64_t kLeastRowNs = 20'000'000;
constexpr double kUpdatesPerBin = 10.0;
constexpr std::size_t kBinsPerChunk = 10;
constexpr std::int64_t kLeastBinNs = 200'000'000;
constexpr std::int64_t kLongestBinNs = 6'000'000'000;
/// Idle power that drifts is the same within a chunk, but for a straight line.
constexpr std::int64_t kLeastChunkNs = 10'000'000'000;
/// The grid has room for some.
constexpr std::int64_t kLongestChunkNs = 30'000'000'000;
/// The least of rows x log(residuals without lag / with it): far beyond chance, though rows are
/// alike.
constexpr double kLagEvidence = 20.0;
/// More of the grid than a chunk and the longest lag need is kept only while the sensor is silent.
constexpr std::size_t kMostGrid = 16'384;
/// Curvature is reported at 0.5 %.
constexpr double kCurvatureQuantile = 0.9975;

}  // namespace

LoadSeries::LoadSeries(std::optional<std::chrono::nanoseconds> lag)
    : seeks_lag_(!lag), lag_ns_(lag ? lag->count() : 0) {}

std::size_t LoadSeries::column_of(std::uint16_t column) {
  const auto found = std::ranges::find(known_, column);
  if (found != known_.end()) return static_cast<std::size_t>(found - known_.begin());
  if (known_.size() == kOwnColumns) return kOwnColumns;
  known_.push_back(column);
  return known_.size() - 1;
}

void LoadSeries::pass_grid(std::int64_t at_ns) {
  if (grid_first_ns_ == 0) {
    grid_first_ns_ = at_ns - at_ns % kGridNs;
    grid_next_ns_ = grid_first_ns_;
    since_ns_.fill(grid_first_ns_);
  }
  for (; grid_next_ns_ <= at_ns; grid_next_ns_ += kGridNs) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      integrals_.at(i) += static_cast<double>(running_.at(i)) * kWeightStep * kSecondsPerNs *
                          static_cast<double>(grid_next_ns_ - since_ns_.at(i));
      since_ns_.at(i) = grid_next_ns_;
    }
    grid_.push_back(integrals_);
    if (grid_.size() > kMostGrid) drop_from_grid(kMostGrid / 2);
  }
}

void LoadSeries::drop_from_grid(std::size_t count) {
  grid_.erase(grid_.begin(), grid_.begin() + static_cast<std::ptrdiff_t>(count));
  grid_first_ns_ += static_cast<std::int64_t>(count) * kGridNs;
}

void LoadSeries::add(std::int64_t at_ns, std::uint16_t tag, std::int64_t weight) {
  pass_grid(at_ns);
  const std::size_t column = column_of(tag);
  integrals_.at(column) += static_cast<double>(running_.at(column)) * kWeightStep * kSecondsPerNs *
                           static_cast<double>(at_ns - since_ns_.at(column));
  since_ns_.at(column) = at_ns;
  running_.at(column) += weight;
}

void LoadSeries::add_energy(std::int64_t begin_ns, std::int64_t end_ns,
                            std::optional<double> joules) {
  if (!joules) {
    open_ = {};
    return;
  }
  ++readings_;
  readings_s_ += seconds_of_ns(end_ns - begin_ns);
  if (open_.end_ns != begin_ns) open_ = {.begin_ns = begin_ns};
  open_.end_ns = end_ns;
  open_.joules += *joules;
  if (open_.end_ns - open_.begin_ns < kLeastRowNs) return;
  rows_.push_back(open_);
  open_ = {.begin_ns = end_ns, .end_ns = end_ns};
}

bool LoadSeries::integrals_at(std::int64_t at_ns, Columns& integrals) const {
  if (grid_.empty() || at_ns < grid_first_ns_) {
    integrals = grid_.empty() ? Columns{} : grid_.front();
    return at_ns >= grid_first_ns_ - static_cast<std::int64_t>(kLags) * kLagStepNs;
  }
  const std::int64_t since = at_ns - grid_first_ns_;
  const auto place = static_cast<std::size_t>(since / kGridNs);
  if (place + 1 >= grid_.size()) return false;
  const double part = static_cast<double>(since % kGridNs) / static_cast<double>(kGridNs);
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double before = grid_[place].at(i);
    integrals.at(i) = before + part * (grid_[place + 1].at(i) - before);
  }
  return true;
}

bool LoadSeries::weights_of(const LoadEnergy& row, std::int64_t lag_ns, Columns& weights) const {
  Columns begin{};
  if (!integrals_at(row.begin_ns - lag_ns, begin) || !integrals_at(row.end_ns - lag_ns, weights)) {
    return false;
  }
  const double length_s = seconds_of_ns(row.end_ns - row.begin_ns);
  for (std::size_t i = 0; i < kColumns; ++i) {
    weights.at(i) = (weights.at(i) - begin.at(i)) / length_s;
  }
  return true;
}

std::int64_t LoadSeries::bin_ns() const noexcept {
  if (readings_ == 0) return kLeastBinNs;
  const double update_ns = readings_s_ / static_cast<double>(readings_) * 1e9;
  return std::clamp(static_cast<std::int64_t>(update_ns * kUpdatesPerBin), kLeastBinNs,
                    kLongestBinNs);
}

std::int64_t LoadSeries::chunk_ns() const noexcept {
  return std::clamp(bin_ns() * static_cast<std::int64_t>(kBinsPerChunk), kLeastChunkNs,
                    kLongestChunkNs);
}

void LoadSeries::advance(std::int64_t until_ns) {
  pass_grid(until_ns);
  const std::size_t rows = covered_rows();
  if (rows > 0 && rows_[rows - 1].end_ns - rows_.front().begin_ns >= chunk_ns()) {
    finish_chunk(rows);
  }
}

/// Rows whose weights are known to their end.
std::size_t LoadSeries::covered_rows() const noexcept {
  std::size_t rows = rows_.size();
  while (rows > 0 && rows_[rows - 1].end_ns + 2 * kGridNs > grid_next_ns_) --rows;
  return rows;
}

void LoadSeries::finish_chunk(std::size_t rows) {
  if (seeks_lag_) seek_lag(rows);
  const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(rows);
  chunks_.emplace_back(rows_.begin(), end);
  rows_.erase(rows_.begin(), end);
  while (chunks_.size() > kWaitingChunks || is_grid_full()) bin_chunk();
}

/// Its next half is needed: the oldest chunk must not wait.
bool LoadSeries::is_grid_full() const noexcept {
  return grid_.size() > kMostGrid / 2 && !chunks_.empty();
}

/// The oldest one that waits.
void LoadSeries::bin_chunk() {
  const std::vector<LoadEnergy> rows = std::move(chunks_.front());
  chunks_.pop_front();
  const std::int64_t length_ns = bin_ns();
  LoadBin bin{.chunk = chunk_};
  std::int64_t begin_ns = 0;
  std::int64_t before_ns = 0;
  for (const LoadEnergy& row : rows) {
    Columns weights{};
    if (!weights_of(row, lag_ns_, weights)) {
      before_ns = 0;
      continue;
    }
    if (row.begin_ns != before_ns) {  // the first one, or after a gap
      bin = {.chunk = chunk_};
      begin_ns = row.begin_ns;
    }
    before_ns = row.end_ns;
    const double length_s = seconds_of_ns(row.end_ns - row.begin_ns);
    bin.seconds += length_s;
    bin.joules += row.joules;
    for (std::size_t c = 0; c < kColumns; ++c) bin.weights.at(c) += weights.at(c) * length_s;
    if (row.end_ns - begin_ns < length_ns) continue;
    add_bin(bin);
    bin = {.chunk = chunk_};
    begin_ns = row.end_ns;
  }
  ++chunk_;
  if (bins_.size() > kMostBins) join_bins();
  const std::int64_t last_ns = rows.back().end_ns;
  const std::int64_t needed_ns =
      last_ns - std::max(static_cast<std::int64_t>(kLags) * kLagStepNs, lag_ns_);
  const std::int64_t unneeded = (needed_ns - grid_first_ns_) / kGridNs;
  if (unneeded > 0) drop_from_grid(std::min(grid_.size(), static_cast<std::size_t>(unneeded)));
}

void LoadSeries::add_bin(const LoadBin& bin) {
  if (bins_.empty() || bins_.back().parts >= per_bin_ ||
      bins_.back().chunk / per_bin_ != bin.chunk / per_bin_) {
    bins_.push_back(bin);
    return;
  }
  LoadBin& last = bins_.back();
  last.seconds += bin.seconds;
  last.joules += bin.joules;
  last.parts += bin.parts;
  for (std::size_t c = 0; c < kColumns; ++c) last.weights.at(c) += bin.weights.at(c);
}

void LoadSeries::seek_lag(std::size_t rows) {
  for (std::size_t lag = 0; lag < kLags; ++lag) {
    if (!add_at_lag(lag, rows)) return;
  }
  choose_lag();
}

/// False where there are too few rows.
bool LoadSeries::add_at_lag(std::size_t lag, std::size_t rows) {
  std::vector<Columns> weights(rows);
  Columns mean_x{};
  double mean_y = 0.0;
  double count = 0.0;
  std::vector<bool> is_known(rows);
  const auto power = [&](std::size_t i) {
    return rows_[i].joules / seconds_of_ns(rows_[i].end_ns - rows_[i].begin_ns);
  };
  for (std::size_t i = 0; i < rows; ++i) {
    is_known[i] = weights_of(rows_[i], static_cast<std::int64_t>(lag) * kLagStepNs, weights[i]);
    // The same rows at each lag.
    if (rows_[i].begin_ns - static_cast<std::int64_t>(kLags) * kLagStepNs < grid_first_ns_) {
      is_known[i] = false;
    }
    if (!is_known[i]) continue;
    count += 1.0;
    mean_y += power(i);
    for (std::size_t c = 0; c < kColumns; ++c) mean_x.at(c) += weights[i].at(c);
  }
  if (count < 2.0) return false;
  mean_y /= count;
  for (double& mean : mean_x) mean /= count;
  LagSums& sums = lags_.at(lag);
  for (std::size_t i = 0; i < rows; ++i) {
    if (!is_known[i]) continue;
    const double y = power(i) - mean_y;
    sums.yy += y * y;
    for (std::size_t c = 0; c < kColumns; ++c) {
      const double x = weights[i].at(c) - mean_x.at(c);
      sums.xy.at(c) += x * y;
      for (std::size_t d = 0; d <= c; ++d) {
        sums.xx.at(c * kColumns + d) += x * (weights[i].at(d) - mean_x.at(d));
      }
    }
  }
  if (lag == 0) lag_rows_ += static_cast<std::uint64_t>(count);
  return true;
}

/// The power that a lag leaves unexplained.
double LoadSeries::residual(const LagSums& sums) const {
  const std::size_t n = std::min(known_.size() + 1, kColumns);
  std::vector<double> xx(n * n);
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t d = 0; d <= c; ++d) {
      xx[c * n + d] = xx[d * n + c] = sums.xx.at(c * kColumns + d);
    }
  }
  const std::vector<double> inverse = stable_inverse(xx, n);
  double explained = 0.0;
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t d = 0; d < n; ++d) {
      explained += sums.xy.at(c) * inverse[c * n + d] * sums.xy.at(d);
    }
  }
  return std::max(sums.yy - explained, 1e-12 * sums.yy + 1e-300);
}

void LoadSeries::choose_lag() {
  std::array<double, kLags> residuals{};
  std::ranges::transform(lags_, residuals.begin(),
                         [this](const LagSums& sums) { return residual(sums); });
  const auto best =
      static_cast<std::size_t>(std::ranges::min_element(residuals) - residuals.begin());
  const double evidence =
      static_cast<double>(lag_rows_) * std::log(residuals[0] / residuals.at(best));
  lag_ns_ = evidence > kLagEvidence ? static_cast<std::int64_t>(best) * kLagStepNs : 0;
}

/// Bins two by two, within blocks of twice as many chunks.
void LoadSeries::join_bins() {
  per_bin_ *= 2;
  const std::vector<LoadBin> bins = std::move(bins_);
  bins_.clear();
  for (const LoadBin& bin : bins) add_bin(bin);
}

/// With what was read since the last chunk.
LoadSeries LoadSeries::finished() const {
  LoadSeries whole = *this;
  const std::size_t rows = whole.covered_rows();
  if (rows > 0 &&
      whole.rows_[rows - 1].end_ns - whole.rows_.front().begin_ns >= 5 * whole.bin_ns()) {
    whole.finish_chunk(rows);
  }
  while (!whole.chunks_.empty()) whole.bin_chunk();
  return whole;
}

LoadSeries::BinTotals LoadSeries::totals() const noexcept {
  BinTotals total;
  for (const LoadBin& bin : bins_) {
    total.seconds += bin.seconds;
    total.joules += bin.joules;
    for (std::size_t c = 0; c < kColumns; ++c) total.weights.at(c) += bin.weights.at(c);
  }
  for (const double weight : total.weights) total.all_weights += weight;
  return total;
}

LoadSeries::BinRegressions LoadSeries::regressions(const std::vector<std::size_t>& used,
                                                   double mean_weight) const {
  const std::size_t n = used.size();
  BinRegressions found{.straight = BlockRegression(n + 1), .curved = BlockRegression(n + 2)};
  std::vector<double> x(n + 2);
  const auto block_of = [&](const LoadBin& of) { return of.chunk / per_bin_; };
  std::size_t first = 0;  // of the block
  std::size_t last = 0;
  for (std::size_t bin_number = 0; bin_number < bins_.size(); ++bin_number) {
    const LoadBin& bin = bins_[bin_number];
    if (bin_number == last) {
      first = last;
      while (last < bins_.size() && block_of(bins_[last]) == block_of(bin)) ++last;
    }
    double weight = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = bin.weights.at(used[i]) / bin.seconds;
      weight += x[i];
    }
    // Idle power that drifts through the block.
    x[n] = static_cast<double>(bin_number - first) - static_cast<double>(last - first - 1) / 2.0;
    const double off = weight - mean_weight;
    x[n + 1] = off * off;
    const double power = bin.joules / bin.seconds;
    found.straight.add(std::span(x).first(n + 1), power, block_of(bin));
    found.curved.add(x, power, block_of(bin));
  }
  return found;
}

LoadFit LoadSeries::fit() const {
  const LoadSeries whole = finished();
  const BinTotals total = whole.totals();
  LoadFit fit;
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (!(total.weights.at(c) > 0.0)) continue;
    used.push_back(c);
    fit.columns.push_back(c < whole.known_.size() ? std::optional(whole.known_[c]) : std::nullopt);
  }
  if (!(total.seconds > 0.0) || used.empty()) return fit;
  fit.mean_weight = total.all_weights / total.seconds;
  fit.mean_power = total.joules / total.seconds;

  const BinRegressions found = whole.regressions(used, fit.mean_weight);
  fit.watts = found.straight.fit();
  if (fit.watts.rows == 0) return fit;
  const BlockFit bent = found.curved.fit();
  const std::size_t n = used.size();
  const auto mean_gain = [&](const BlockFit& of) {
    double gain = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      gain += of.gains[i] * total.weights.at(used[i]) / total.all_weights;
    }
    return gain;
  };
  fit.slope = mean_gain(fit.watts);
  if (bent.rows > 0 && bent.inflation[n + 1] < kMostInflation &&
      std::abs(bent.t_value(n + 1)) > student_quantile(kCurvatureQuantile, bent.clusters - 1.0)) {
    fit.is_curved = true;
    fit.slope = mean_gain(bent);  // the square has no slope at the mean
  }
  return fit;
}

}  // namespace wattle::detail
