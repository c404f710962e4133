#include "devices/power_pyramid.hpp"

namespace wattle::daemon {

PowerPyramid::PowerPyramid(std::size_t kept) {
  // Two more: the oldest summaries start before the oldest slot.
  for (std::size_t count = kept; count > 0; count /= kFan) {
    levels_.push_back({.capacity = count + 2, .ring = {}});
    levels_.back().ring.reserve(count + 2);
  }
}

void PowerPyramid::PyramidLevel::push(const PowerSummary& summary) {
  const auto place = static_cast<std::size_t>(count % capacity);
  if (place == ring.size()) {
    ring.push_back(summary);
  } else {
    ring[place] = summary;
  }
  ++count;
}

void PowerPyramid::push(const PowerSummary& slot) {
  levels_.front().push(slot);
  for (std::size_t i = 1; i < levels_.size() && levels_[i - 1].count % kFan == 0; ++i) {
    const PyramidLevel& below = levels_[i - 1];
    PowerSummary sum;
    for (std::uint64_t number = below.count - kFan; number < below.count; ++number) {
      sum.add(below.at(number));
    }
    levels_[i].push(sum);
  }
}

}  // namespace wattle::daemon
