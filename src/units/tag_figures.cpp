#include "units/tag_figures.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers/student.hpp"
#include "units/unit_time.hpp"

namespace wattle::detail {

namespace {

constexpr std::int64_t kFirstBlockNs = 50'000'000;
constexpr std::size_t kFewestBlocks = 8;
/// The bounds of the sketch are 2.2 % apart.
constexpr double kBucketError = 0.011;

EnergyInterval range_of(double value, double below, double above) {
  return {Joules(value), Joules(value - below), Joules(value + above)};
}

}  // namespace

TagFigures::Block& TagFigures::block_at(std::int64_t end_ns) noexcept {
  if (block_ns_ == 0) {
    first_ns_ = end_ns;
    block_ns_ = kFirstBlockNs;
  }
  // Domains are divided one after the other: an end may be a little earlier than the one before.
  const std::int64_t since = std::max<std::int64_t>(0, end_ns - first_ns_);
  while (since / block_ns_ >= static_cast<std::int64_t>(kBlocks)) {
    for (std::size_t i = 0; i < kBlocks / 2; ++i) {
      Block joined = blocks_.at(2 * i);
      joined += blocks_.at(2 * i + 1);
      blocks_.at(i) = joined;
    }
    std::fill(blocks_.begin() + kBlocks / 2, blocks_.end(), Block{});
    used_ = (used_ + 1) / 2;
    block_ns_ *= 2;
  }
  const auto place = static_cast<std::size_t>(since / block_ns_);
  used_ = std::max(used_, place + 1);
  return blocks_.at(place);
}

void UnitGroups::add(double number, double joules) noexcept {
  if (!(number > 0.0) || !std::isfinite(number)) return;
  const int most = static_cast<int>(groups_.size()) - 1;
  const int place = std::clamp(std::ilogb(number) - kLeastExponent, 0, most);
  GroupSums& group = groups_.at(static_cast<std::size_t>(place));
  ++group.count;
  group.numbers += number;
  group.joules += joules;
}

std::vector<UnitGroup> UnitGroups::found() const {
  std::vector<UnitGroup> found;
  for (const GroupSums& group : groups_) {
    if (group.count == 0) continue;
    const auto count = static_cast<double>(group.count);
    found.push_back({.number = group.numbers / count,
                     .count = group.count,
                     .mean = Joules(group.joules / count)});
  }
  return found;
}

void TagFigures::add(const EndedUnit& unit) {
  ++count_;
  joules_ += unit.joules;
  seconds_ += unit.length_s;
  work_ += unit.work;
  moments_.add(unit.joules);
  block_at(unit.end_ns) += {.count = 1.0, .joules = unit.joules, .work = unit.work};
  if (!spread_) spread_ = std::make_unique<Spread>();
  spread_->sketch.add(unit.joules);
  spread_->by_running.add(static_cast<double>(unit.running), unit.joules);
  spread_->by_work.add(unit.work, unit.joules);
}

void TagFigures::add_phase(std::int64_t end_ns, double joules, double length_s) {
  ++count_;
  joules_ += joules;
  seconds_ += length_s;
  block_at(end_ns) += {.count = 1.0, .joules = joules};
}

std::optional<TagFigures::RatioError> TagFigures::ratio_error(double Block::*below,
                                                              double shortest_s) const {
  const double block_s = seconds_of_ns(block_ns_);
  const auto joined = static_cast<std::size_t>(std::max(1.0, std::ceil(shortest_s / block_s)));
  const std::size_t count = used_ / joined;  // the last one may not be full
  if (count < kFewestBlocks) return std::nullopt;
  Block all;
  for (std::size_t i = 0; i < count * joined; ++i) all += blocks_.at(i);
  if (!(all.*below > 0.0)) return std::nullopt;
  const double ratio = all.joules / (all.*below);
  double squares = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    Block block;
    for (std::size_t j = 0; j < joined; ++j) block += blocks_.at(i * joined + j);
    const double residual = block.joules - ratio * (block.*below);
    squares += residual * residual;
  }
  const auto n = static_cast<double>(count);
  return RatioError{.standard = std::sqrt(n / (n - 1.0) * squares) / (all.*below),
                    .critical = student_critical(n - 1.0)};
}

UnitTag TagFigures::summary(const SumDoubt& doubt) const {
  UnitTag tag{.count = count_, .unknown = unknown_, .sum = Joules(joules_), .work = work_};
  if (count_ == 0) return tag;
  const auto count = static_cast<double>(count_);
  tag.mean_time = Seconds(seconds_ / count);
  tag.is_short = 2 * short_ > count_;
  const auto with_doubt = [&](double value, const std::optional<RatioError>& error) {
    const double size = std::abs(value);
    const double below = std::hypot(error->critical * error->standard, doubt.relative * size);
    return range_of(value, below, below + doubt.spilled * size);
  };
  const auto of_mean = ratio_error(&Block::count, doubt.block_s);
  if (!of_mean) {
    // All of it is in doubt, rather than none.
    const double size = std::abs(joules_ / count);
    tag.mean = range_of(joules_ / count, size, size);
  } else {
    tag.mean = with_doubt(joules_ / count, of_mean);
  }
  if (work_ > 0.0) {
    if (const auto error = ratio_error(&Block::work, doubt.block_s)) {
      tag.per_work = with_doubt(joules_ / work_, error);
    }
  }
  if (!spread_) return tag;
  tag.distribution = spread_->sketch.distribution();
  tag.by_running = spread_->by_running.found();
  tag.by_work = spread_->by_work.found();
  if (!of_mean || count_ < 2) return tag;
  // Units that share a time are not independent: as many count as would have such a mean.
  const double variance = moments_.variance();
  const double of_blocks = of_mean->standard * of_mean->standard;
  const double effective =
      of_blocks > 0.0 ? std::min(count, std::max(1.0, variance / of_blocks)) : count;
  const auto quantile = [&](double rank) -> std::optional<EnergyInterval> {
    const double half = 1.96 * std::sqrt(rank * (1.0 - rank) / effective);
    const double value = spread_->sketch.quantile(rank);
    const double low = spread_->sketch.quantile(std::max(0.0, rank - half));
    const double high = spread_->sketch.quantile(std::min(1.0, rank + half));
    const auto doubted = [&](double bound) {
      return std::abs(bound) * std::hypot(kBucketError, doubt.relative);
    };
    return EnergyInterval{Joules(value), Joules(low - doubted(low)),
                          Joules(high + doubted(high) + doubt.spilled * std::abs(high))};
  };
  tag.median = quantile(0.5);
  tag.p95 = quantile(0.95);
  tag.p99 = quantile(0.99);
  return tag;
}

}  // namespace wattle::detail
