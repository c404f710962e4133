#include "auth/failure_limit.hpp"

#include <algorithm>
#include <utility>

namespace wattle::daemon {

bool FailureLimit::admit(std::string_view peer, TimePoint now) {
  auto entry = spent_until_.find(peer);
  if (entry == spent_until_.end()) {
    if (spent_until_.size() == kMaxPeers) forget_one();
    entry = spent_until_.emplace(peer, now).first;
  }
  const TimePoint after = std::max(entry->second, now) + kRefill;
  if (after - now > burst_ * kRefill) {
    ++suppressed_;
    return false;
  }
  entry->second = after;
  return true;
}

std::uint64_t FailureLimit::take_suppressed() noexcept { return std::exchange(suppressed_, 0); }

void FailureLimit::forget_one() {
  const auto soonest =
      std::ranges::min_element(spent_until_, {}, [](const auto& entry) { return entry.second; });
  spent_until_.erase(soonest);
}

}  // namespace wattle::daemon
