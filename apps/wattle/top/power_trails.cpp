#include "top/power_trails.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace wattle::app {

void PowerTrails::add(const TopObservation& seen) {
  std::map<std::string, std::deque<std::optional<double>>> kept;
  for (const TopDevice& device : seen.devices) {
    const std::string key = key_of(device);
    auto& trail = kept[key];
    if (const auto before = trails_.find(key); before != trails_.end()) {
      trail = std::move(before->second);
    }
    trail.push_back(device.power ? std::optional(device.power->value) : std::nullopt);
    if (trail.size() > kMost) trail.pop_front();
  }
  trails_ = std::move(kept);  // devices that are gone leave nothing
}

std::string PowerTrails::plot(const std::string& key, std::size_t width) const {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kHighest = kBlocks.size() - 1;
  const auto found = trails_.find(key);
  if (found == trails_.end()) return {};
  const auto& trail = found->second;
  const std::size_t shown = std::min(width, trail.size());
  double top = 0.0;
  for (std::size_t i = trail.size() - shown; i < trail.size(); ++i) {
    top = std::max(top, trail[i].value_or(0.0));
  }
  std::string text(width - shown, ' ');
  for (std::size_t i = trail.size() - shown; i < trail.size(); ++i) {
    if (!trail[i]) {
      text += ' ';
    } else {
      const double part = top > 0.0 ? std::clamp(*trail[i] / top, 0.0, 1.0) : 0.0;
      text += kBlocks.at(static_cast<std::size_t>(std::lround(part * kHighest)));
    }
  }
  return text;
}

}  // namespace wattle::app
