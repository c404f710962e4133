#include "sampling/counters/fed_counter.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sampling/gauges/gauge_spread.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

constexpr int kMostFeedUpdates = 300;

double feed_square(double value) noexcept { return value * value; }

/// The values of a gauge over time, each from when it was seen first, and what they add up to.
class HeldPower {
 public:
  void add(double at_s, double power_w) {
    const double before_j = steps_.empty() ? 0.0 : energy_j(at_s);
    steps_.push_back({.at_s = at_s, .power_w = power_w, .energy_j = before_j});
  }
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] double begin_s() const noexcept { return steps_.front().at_s; }
  [[nodiscard]] double power_w(double at_s) const noexcept { return step_at(at_s).power_w; }
  [[nodiscard]] double energy_j(double at_s) const noexcept {
    const HeldStep& step = step_at(at_s);
    return step.energy_j + step.power_w * (at_s - step.at_s);
  }
  /// The time nearest to `at_s` at which a value was seen first, if it is at most `most_s` away.
  [[nodiscard]] double near_step_s(double at_s, double most_s) const noexcept {
    const auto after = std::ranges::upper_bound(steps_, at_s, {}, &HeldStep::at_s);
    double near_s = at_s;
    if (after != steps_.end() && after->at_s - at_s <= most_s) near_s = after->at_s;
    if (after == steps_.begin()) return near_s;
    const double since_s = at_s - std::prev(after)->at_s;
    const bool is_nearer = near_s == at_s || since_s < near_s - at_s;
    return since_s <= most_s && is_nearer ? std::prev(after)->at_s : near_s;
  }
  [[nodiscard]] double highest_w() const noexcept {
    return std::ranges::max_element(steps_, {}, &HeldStep::power_w)->power_w;
  }

 private:
  struct HeldStep {
    double at_s;
    double power_w;
    double energy_j;  ///< until then
  };
  [[nodiscard]] const HeldStep& step_at(double at_s) const noexcept {
    const auto after = std::ranges::upper_bound(steps_, at_s, {}, &HeldStep::at_s);
    return after == steps_.begin() ? *after : *std::prev(after);
  }

  std::vector<HeldStep> steps_;
};

/// A value of a counter, when it was read first.
struct CountedEnergy {
  double at_s;
  double energy_j;
  bool is_at_update;  ///< the reading before it was one of the gauge's, and showed another value
};

/// The readings of both, in seconds from a common start.
struct BothReadings {
  HeldPower held;
  std::vector<CountedEnergy> counted;
  double end_s = 0.0;      ///< the newest one of the gauge
  double spacing_s = 0.0;  ///< of the gauge's updates
  double period_s = 0.0;   ///< how often the gauge is read
  double coverage = 0.0;   ///< the part of the time that it sees

  /// Each reading meets another update, but where gauge and reader overtake each other.
  [[nodiscard]] bool meets_each() const noexcept {
    constexpr double kSamePace = 0.03;
    return std::abs(period_s / spacing_s - 1.0) < kSamePace;
  }
};

BothReadings both_readings(const History& counter, const History& gauge, TimePoint end) {
  const nanoseconds spacing = std::max(gauge.period(), gauge.update());
  TimePoint from = end - kMostFeedUpdates * spacing;
  const auto after_gap = [&](TimePoint /*begin*/, TimePoint known) {
    from = std::max(from, known);
  };
  counter.visit_unknown(from, end, std::ref(after_gap));
  gauge.visit_unknown(from, end, std::ref(after_gap));
  const auto seconds = [&](TimePoint at) { return Seconds(at - from).count(); };

  BothReadings both{.held = {},
                    .counted = {},
                    .end_s = seconds(std::min(end, gauge.values().newest().value_or(from))),
                    .spacing_s = Seconds(spacing).count(),
                    .period_s = Seconds(gauge.period()).count(),
                    .coverage = Seconds(*gauge.channel().gauge.window) / Seconds(spacing)};
  const auto hold = [&](TimePoint at, std::uint64_t raw) {
    both.held.add(seconds(at), gauge.channel().scale() * static_cast<double>(raw));
  };
  if (const auto before = gauge.held(from)) hold(from, before->raw);
  gauge.values().for_each(
      from, end, [&](const StoredReading& reading) { hold(reading.first_seen, reading.raw); });
  if (both.held.empty()) return both;
  constexpr double kNearlyOne = 0.9;
  constexpr double kNextReading = 1.5;
  std::optional<StoredReading> last;
  counter.values().for_each(from, end, [&](const StoredReading& reading) {
    const auto before = std::exchange(last, reading);
    if (!before || before->raw == reading.raw) return;
    const double at_s = seconds(reading.first_seen);
    if (at_s < both.held.begin_s()) return;
    if (!both.counted.empty() && at_s - both.counted.back().at_s < kNearlyOne * both.spacing_s) {
      return;
    }
    const double since_s = Seconds(reading.first_seen - before->first_seen).count();
    both.counted.push_back(
        {.at_s = at_s,
         .energy_j = counter.channel().scale() * static_cast<double>(reading.raw),
         .is_at_update = since_s < kNextReading * both.period_s});
  });
  return both;
}

/// How much the gauge's values change from one update to the next.
class UpdateChanges {
 public:
  explicit UpdateChanges(const BothReadings& both)
      : begin_s_(both.held.begin_s()), spacing_s_(both.spacing_s) {
    const auto updates =
        static_cast<std::size_t>(std::max(0.0, (both.end_s - begin_s_) / spacing_s_));
    bends_w2_.reserve(updates + 1);
    bends_w2_.push_back(0.0);
    double before_w = both.held.power_w(begin_s_);
    double here_w = before_w;
    for (std::size_t i = 0; i < updates; ++i) {
      constexpr double kMiddle = 0.5;
      const double next_s = begin_s_ + (static_cast<double>(i + 1) + kMiddle) * spacing_s_;
      const double next_w = both.held.power_w(next_s);
      bends_w2_.push_back(bends_w2_.back() + feed_square(before_w - 2.0 * here_w + next_w));
      changes_w2_ += feed_square(next_w - here_w);
      before_w = std::exchange(here_w, next_w);
    }
  }
  /// Sum of the squares of how the values bend.
  [[nodiscard]] double bends_w2(double begin_s, double end_s) const noexcept {
    return bends_w2_[place_of(end_s)] - bends_w2_[place_of(begin_s)];
  }
  /// The mean square of the changes.
  [[nodiscard]] double change_w2() const noexcept {
    return changes_w2_ / static_cast<double>(bends_w2_.size());
  }

 private:
  [[nodiscard]] std::size_t place_of(double at_s) const noexcept {
    const double updates = std::max(0.0, (at_s - begin_s_) / spacing_s_);
    return std::min(static_cast<std::size_t>(updates), bends_w2_.size() - 1);
  }

  double begin_s_;
  double spacing_s_;
  std::vector<double> bends_w2_;
  double changes_w2_ = 0.0;
};

struct FeedPiece {
  double counted_j = 0.0;
  double shown_j = 0.0;
  double length_s = 0.0;
  double expected_j2 = 0.0;  ///< of a counter of its own
  double timing_j2 = 0.0;
  double apart_j = 0.0;
};

/// The variance of three values, but for what is a line through them: (a - 2 b + c)^2 / 6.
constexpr double kOfBend = 1.0 / 6.0;

/// `lag_s`: by how much later the values hold than they are counted.
std::vector<FeedPiece> pieces_of(const BothReadings& both, const UpdateChanges& changes,
                                 double lag_s) {
  constexpr double kPaceOfUpdates = 0.0005;
  constexpr double kJitterOfUpdates = 0.003;
  constexpr double kWakeUpS = 2e-4;
  const double unseen = unseen_part(std::min(both.coverage, 1.0));
  // A reader that is late sees an update late: its value holds until the next one is seen.
  constexpr double kMostLate = 0.1;
  const auto shown_until_j = [&](const CountedEnergy& counted) {
    const double at_s = counted.at_s + lag_s;
    return both.held.energy_j(both.held.near_step_s(at_s, kMostLate * both.spacing_s));
  };
  std::vector<FeedPiece> pieces;
  pieces.reserve(both.counted.size());
  for (std::size_t i = 1; i < both.counted.size(); ++i) {
    const CountedEnergy& from = both.counted[i - 1];
    const CountedEnergy& to = both.counted[i];
    // The newest value holds for one more update.
    constexpr double kOneMore = 1.02;
    if (to.at_s + lag_s > both.end_s + kOneMore * both.spacing_s) break;
    FeedPiece piece{.counted_j = to.energy_j - from.energy_j,
                    .shown_j = shown_until_j(to) - shown_until_j(from),
                    .length_s = to.at_s - from.at_s};
    if (piece.shown_j <= 0.0) continue;
    piece.expected_j2 = unseen * kOfBend * feed_square(both.spacing_s) *
                        changes.bends_w2(from.at_s, to.at_s + both.spacing_s);
    const auto doubt_s2 = [&](const CountedEnergy& end) {
      return feed_square(both.meets_each() || end.is_at_update ? kWakeUpS : both.period_s / 2.0);
    };
    const double jitter_j = kJitterOfUpdates * both.spacing_s * piece.shown_j / piece.length_s;
    piece.timing_j2 = feed_square(kPaceOfUpdates * piece.shown_j) + feed_square(jitter_j) +
                      changes.change_w2() * (doubt_s2(from) + doubt_s2(to));
    pieces.push_back(piece);
  }
  return pieces;
}

/// The same as `FeedPiece::expected_j2` of all pieces, if these are taken for values themselves:
/// from the middle one of how they bend, as an update that is missed bends three.
double expected_of_pieces_j2(const std::vector<FeedPiece>& pieces, double coverage) {
  constexpr double kMiddleOfSquares = 0.455;  // of a normal distribution
  std::vector<double> bends_j2;
  bends_j2.reserve(pieces.size());
  for (std::size_t i = 1; i + 1 < pieces.size(); ++i) {
    const auto power_w = [&](std::size_t at) { return pieces[at].shown_j / pieces[at].length_s; };
    const double bend_w = power_w(i - 1) - 2.0 * power_w(i) + power_w(i + 1);
    bends_j2.push_back(kOfBend * feed_square(bend_w * pieces[i].length_s));
  }
  if (bends_j2.empty()) return 0.0;
  const auto middle = bends_j2.begin() + std::ssize(bends_j2) / 2;
  std::ranges::nth_element(bends_j2, middle);
  return unseen_part(std::min(coverage, 1.0)) * static_cast<double>(pieces.size()) * *middle /
         kMiddleOfSquares;
}

/// The counter's part of what the values add up to, as most pieces show it: the gauge's updates may
/// be longer, or shorter, than stated.
double pace_of(const std::vector<FeedPiece>& pieces) {
  constexpr double kMostPace = 0.03;
  std::vector<double> ratios;
  ratios.reserve(pieces.size());
  for (const FeedPiece& piece : pieces) ratios.push_back(piece.counted_j / piece.shown_j);
  const auto middle = ratios.begin() + std::ssize(ratios) / 2;
  std::ranges::nth_element(ratios, middle);
  return std::clamp(*middle, 1.0 - kMostPace, 1.0 + kMostPace);
}

/// The sum of the squares of how far all pieces but the worst are apart comes with it.
struct LagEvidence {
  FeedEvidence evidence{};
  double apart_j2 = std::numeric_limits<double>::infinity();
};

LagEvidence evidence_at(const BothReadings& both, std::vector<FeedPiece> pieces) {
  constexpr std::size_t kFewest = 3;
  constexpr double kLeastOfPieces = 0.2;
  constexpr double kMany = 2.0;
  const double worst_part = both.meets_each() ? 0.04 : 0.06;
  if (pieces.size() < kFewest) return {};
  const double of_pieces_j2 = expected_of_pieces_j2(pieces, both.coverage);
  const double pace = pace_of(pieces);
  FeedPiece all;
  for (FeedPiece& piece : pieces) {
    piece.apart_j = piece.counted_j - pace * piece.shown_j;
    all.counted_j += piece.counted_j;
    all.shown_j += piece.shown_j;
    all.length_s += piece.length_s;
  }
  std::ranges::sort(pieces, std::ranges::greater{},
                    [](const FeedPiece& piece) { return std::abs(piece.apart_j); });
  const auto worst = 1 + static_cast<std::ptrdiff_t>(worst_part * all.length_s / both.spacing_s);
  FeedPiece sum;
  double apart_j2 = 0.0;
  double expected_j4 = 0.0;
  for (std::ptrdiff_t i = worst; i < std::ssize(pieces); ++i) {
    const FeedPiece& piece = pieces[static_cast<std::size_t>(i)];
    apart_j2 += feed_square(piece.apart_j);
    sum.expected_j2 += piece.expected_j2;
    sum.timing_j2 += piece.timing_j2;
    expected_j4 += feed_square(piece.expected_j2);
  }
  constexpr double kTimesOneUpdate = 1.5;
  const bool is_long = all.length_s > kMany * both.spacing_s * static_cast<double>(pieces.size());
  const double expected_j2 = is_long ? std::min(sum.expected_j2, of_pieces_j2) : sum.expected_j2;
  const double mean_w = all.shown_j / all.length_s;
  LagEvidence found{.apart_j2 = apart_j2};
  found.evidence.pieces = pieces.size();
  found.evidence.apart_on_average = all.counted_j / all.shown_j - 1.0;
  found.evidence.average_doubt =
      kTimesOneUpdate * both.held.highest_w() * both.spacing_s / (mean_w * all.length_s);
  if (expected_j2 < kLeastOfPieces * sum.expected_j2 || expected_j2 <= 0.0) return found;

  found.evidence.apart = apart_j2 / expected_j2;
  found.evidence.timing = sum.timing_j2 / expected_j2;
  found.evidence.telling = feed_square(sum.expected_j2) / expected_j4;
  return found;
}

}  // namespace

bool rests_between_updates(const Channel& gauge) noexcept {
  return gauge.metric == Metric::power_instant && gauge.scope == Scope::device &&
         gauge.gauge.window && !gauge.gauge.time_constant && gauge.update.known() &&
         misses_time(Seconds(*gauge.gauge.window) / Seconds(gauge.update.mean));
}

// In bench/lab (10 or 20 readings a second, windows of 5 and 10 s) counters that are fed are apart
// by less than 0.05, and others by 0.1 and more, of what is expected: roots of what is summed up
// here.
CounterFeed FeedEvidence::feed() const noexcept {
  constexpr double kOtherSensor = 0.05;
  if (std::abs(apart_on_average) > kOtherSensor + average_doubt) return CounterFeed::own;
  constexpr double kFewest = 2.5;
  constexpr double kEnough = 5.0;
  if (telling < kFewest) return CounterFeed::unknown;
  constexpr double kFed = 0.02;
  constexpr double kOwn = 0.1;
  constexpr double kVague = 0.2;
  const double timing_part = std::sqrt(timing);
  const double apart_part = std::sqrt(apart);
  if (apart_part > kOwn + 4.0 * timing_part) return CounterFeed::own;
  if (telling > kEnough && timing_part < kVague && apart_part < kFed + timing_part / 2.0)
    return CounterFeed::fed;
  return CounterFeed::unknown;
}

FeedEvidence feed_evidence(const History& counter, const History& gauge, TimePoint end) {
  constexpr double kStillEach = 1.05;
  if (Seconds(gauge.period()) > kStillEach * Seconds(gauge.update())) return {};
  const BothReadings both = both_readings(counter, gauge, end);
  if (both.held.empty()) return {};
  const UpdateChanges changes(both);
  constexpr double kFinest = 8.0;
  constexpr int kMostLag = 2;  // updates
  const double step_s = std::max(both.period_s, both.spacing_s / kFinest);
  const auto steps = static_cast<int>(std::lround(kMostLag * both.spacing_s / step_s));
  LagEvidence best;
  for (int i = 0; i <= steps; ++i) {
    LagEvidence found = evidence_at(both, pieces_of(both, changes, i * step_s));
    if (found.apart_j2 < best.apart_j2) best = found;
  }
  return best.evidence;
}

void add_feed(EnergyFigure& counted, const History& counter, const History& gauge,
              const EnergyFigure& summed, TimePoint end) {
  if (!counted.energy || counted.known <= Seconds(0)) return;
  if (counted.flags.has(Flag::short_window)) return;
  if (!summed.energy || summed.flags.has(Flag::short_window)) return;
  if (!rests_between_updates(gauge.channel())) return;
  CounterFeed feed = counter.channel().counter.feed;
  if (feed == CounterFeed::unknown) feed = feed_evidence(counter, gauge, end).feed();
  if (feed == CounterFeed::unknown) counted.flags.set(Flag::coverage_unknown);
  if (feed != CounterFeed::fed) return;
  counted.coverage = Seconds(*gauge.channel().gauge.window) / Seconds(gauge.update());
  counted.flags.set(Flag::partial_coverage);
  counted.uncertainty =
      Joules(std::hypot(counted.uncertainty.si(), summed.unseen_uncertainty.si()));
}

}  // namespace wattle
