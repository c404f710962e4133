#include "calibration/step_responses.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace wattle {
namespace {

/// How far from its true value a gain may be that is known roughly.
constexpr double kGainDoubt = 0.12;

/// The parts of a row's step, in watts at the meter.
struct StepRow {
  std::vector<double> parts;  ///< of each domain
  double meter = 0.0;
  double size = 0.0;  ///< the sum of the sizes of all parts

  [[nodiscard]] double unexplained() const noexcept {
    return meter - std::accumulate(parts.begin(), parts.end(), 0.0);
  }
};

std::vector<StepRow> step_rows(const AlignedRows& changes, std::span<const double> gains) {
  std::vector<StepRow> rows(changes.rows());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k].meter = changes.y(k);
    for (std::size_t i = 0; i < gains.size(); ++i) {
      rows[k].parts.push_back(gains[i] * changes.x(k)[i]);
      rows[k].size += std::abs(rows[k].parts.back());
    }
  }
  return rows;
}

/// The standard deviation that the quietest rows show.
double noise_of(const std::vector<StepRow>& rows) {
  constexpr double kOfEighth = 0.1573;  // an eighth of a normal distribution lies within
  std::vector<double> sizes(rows.size());
  std::ranges::transform(rows, sizes.begin(),
                         [](const StepRow& row) { return std::abs(row.unexplained()); });
  const auto eighth = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 8);
  std::ranges::nth_element(sizes, eighth);
  return *eighth / kOfEighth;
}

/// The part of the rows in which the meter shows a step and no sensor does.
double unseen_part(const std::vector<StepRow>& rows, double limit) {
  double quiet = 1.0;
  double stepping = 0.0;
  for (const StepRow& row : rows) {
    if (row.size > limit / 2.0) continue;
    quiet += 1.0;
    if (std::abs(row.unexplained()) > limit) stepping += 1.0;
  }
  return stepping / quiet;
}

StepResponses responses_of(const std::vector<StepRow>& rows, std::size_t domain, double noise,
                           std::size_t apart) {
  constexpr double kMostDoubt = 0.2;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double step = std::abs(rows[k].parts[domain]);
    const double doubt = std::hypot(noise, kGainDoubt * (rows[k].size - step));
    if (doubt < kMostDoubt * step) order.push_back(k);
  }
  std::ranges::sort(order, std::greater<>(),
                    [&](std::size_t k) { return std::abs(rows[k].parts[domain]); });
  std::vector<bool> is_taken(rows.size(), false);
  StepResponses responses;
  for (const std::size_t k : order) {
    if (is_taken[k]) continue;
    const std::size_t first = std::max(k, apart) - apart;
    for (std::size_t near = first; near < std::min(rows.size(), k + apart + 1); ++near) {
      is_taken[near] = true;
    }
    const double response = 1.0 + rows[k].unexplained() / rows[k].parts[domain];
    ++(response < 0.5 ? responses.missed : responses.seen);
  }
  return responses;
}

}  // namespace

bool StepResponses::accuses() const noexcept {
  constexpr double kLeast = 3.0;
  constexpr double kLeastPart = 0.2;
  const auto count = static_cast<double>(missed);
  return count >= kLeast + missed_by_chance + 2.0 * std::sqrt(missed_by_chance) &&
         count >= kLeastPart * static_cast<double>(missed + seen);
}

std::vector<StepResponses> step_responses(const AlignedRows& rows, std::size_t apart,
                                          std::span<const double> gains) {
  std::vector<StepResponses> all(gains.size());
  const std::vector<StepRow> steps = step_rows(rows.changes(apart), gains);
  if (steps.empty()) return all;
  const double noise = noise_of(steps);
  for (std::size_t i = 0; i < gains.size(); ++i) {
    StepResponses& responses = all[i];
    responses = responses_of(steps, i, noise, apart);
    const double unseen = unseen_part(steps, 6.0 * noise);
    responses.missed_by_chance =
        unseen * static_cast<double>(responses.missed + responses.seen) / 2.0;
  }
  return all;
}

}  // namespace wattle
