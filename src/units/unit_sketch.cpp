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

std::uint64_t UnitSketch::at_most(double joules) const noexcept {
  if (joules < 0.0) return 0;
  std::uint64_t sum = none_;
  if (joules == 0.0) return sum;
  const std::size_t last = bucket_of(joules);
  for (std::size_t i = 0; i <= last; ++i) sum += buckets_.at(i);
  return sum;
}

}  // namespace wattle::detail
