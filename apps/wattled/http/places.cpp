#include "http/places.hpp"

#include <algorithm>

namespace wattle::daemon {

PlaceLimits place_limits(std::size_t all, std::size_t per_address) {
  constexpr std::size_t kMostGuests = 32;
  constexpr std::size_t kMostHalfRecords = 256;
  constexpr std::size_t kMostUnreadBytes = std::size_t{48} << 20U;
  const auto at_least_one = [](std::size_t count) { return std::max<std::size_t>(count, 1); };
  const std::size_t quarter = at_least_one(all / 4);
  return {.all = all,
          .tcp = at_least_one(all - quarter),
          .per_address = per_address > 0 ? per_address : quarter,
          .per_user = at_least_one(all / 2),
          .guests = std::clamp<std::size_t>(all / 32, 1, kMostGuests),
          .half_records = std::clamp<std::size_t>(all / 4, 1, kMostHalfRecords),
          .unread_bytes = kMostUnreadBytes};
}

std::size_t connections_within(std::size_t descriptors, std::size_t wanted) {
  const std::size_t room =
      descriptors > 2 * kSpareDescriptors ? descriptors - kSpareDescriptors : descriptors / 2;
  return std::min(wanted, room);
}

Shortage Places::shortage_for(std::string_view client, bool is_local) const {
  const auto found = of_client_.find(client);
  const std::size_t own = found != of_client_.end() ? found->second : 0;
  if (own >= (is_local ? limits_.per_user : limits_.per_address)) return Shortage::per_client;
  if (!is_local && tcp_ >= limits_.tcp) return Shortage::tcp;
  if (taken_ >= limits_.all) return Shortage::all;
  // A user with many connections leaves as many free: ten users together cannot exclude an
  // eleventh.
  const bool shares = is_local && limits_.per_user != kNoLimit;
  return shares && own >= limits_.all - taken_ ? Shortage::per_client : Shortage::none;
}

void Places::take(const std::string& client, bool is_local) {
  ++of_client_[client];
  ++taken_;
  if (!is_local) ++tcp_;
}

void Places::give_back(const std::string& client, bool is_local) {
  const auto found = of_client_.find(client);
  if (--found->second == 0) of_client_.erase(found);
  --taken_;
  if (!is_local) --tcp_;
}

}  // namespace wattle::daemon
