#include "units/unit_sketch.hpp"

#include <algorithm>
#include <cmath>

namespace wattle::detail {

std::size_t UnitSketch::bucket_of(double joules) noexcept {
  // The upper bound belongs to a bucket, as in Prometheus.
  const double place = std::ceil((std::log2(joules) - kLeastExponent) * kPerOctave) - 1.0;
  return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(kBuckets - 1)));
}

void UnitSketch::add(double joules) noexcept {
  least_ = count_ == 0 ? joules : std::min(least_, joules);
  most_ = count_ == 0 ? joules : std::max(most_, joules);
  ++count_;
  if (joules > 0.0) {
    ++buckets_.at(bucket_of(joules));
  } else {
    ++none_;
  }
}

double UnitSketch::quantile(double rank) const noexcept {
  const double wanted = std::max(1.0, std::ceil(rank * static_cast<double>(count_)));
  if (count_ > 0 && wanted >= static_cast<double>(count_)) return most_;
  auto passed = static_cast<double>(none_);
  if (passed >= wanted) return std::min(least_, 0.0);
  for (std::size_t i = 0; i < kBuckets; ++i) {
    passed += static_cast<double>(buckets_.at(i));
    if (passed < wanted) continue;
    const double middle = kLeastExponent + (static_cast<double>(i) + 0.5) / kPerOctave;
    return std::clamp(std::exp2(middle), least_, most_);
  }
  return most_;
}

UnitDistribution UnitSketch::distribution() const {
  UnitDistribution found{.none = none_};
  const auto is_used = [](std::uint64_t count) { return count > 0; };
  std::size_t first = 0;
  while (first < kBuckets && !is_used(buckets_.at(first))) ++first;
  if (first == kBuckets) return found;
  std::size_t last = kBuckets - 1;
  while (!is_used(buckets_.at(last))) --last;
  std::size_t joined = 1;
  while (last / joined - first / joined >= kMostShown) joined *= 2;
  const auto octaves = [](std::size_t places) { return static_cast<double>(places) / kPerOctave; };
  found.from = Joules(std::exp2(kLeastExponent + octaves(first / joined * joined)));
  found.ratio = std::exp2(octaves(joined));
  found.counts.resize(last / joined - first / joined + 1);
  for (std::size_t i = first; i <= last; ++i) {
    found.counts[i / joined - first / joined] += buckets_.at(i);
  }
  return found;
}

}  // namespace wattle::detail
