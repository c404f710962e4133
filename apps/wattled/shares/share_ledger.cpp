#include "shares/share_ledger.hpp"

#include <algorithm>
#include <utility>

namespace wattle::daemon {

template <class Group>
std::size_t LedgerOf<Group>::hidden() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(live_, [&](const Group& group) { return !rows_.contains(group); }));
}

template <class Group>
std::size_t LedgerOf<Group>::place_of(const EnergyAmong<Group>& divided) {
  const auto found = std::ranges::find(domains_, divided.domain, &LedgerDomain::name);
  if (found != domains_.end()) return static_cast<std::size_t>(found - domains_.begin());
  domains_.push_back({.name = divided.domain});
  return domains_.size() - 1;
}

template <class Group>
void LedgerOf<Group>::end_rows(TimePoint at) {
  for (auto& [group, row] : rows_) {
    for (SharedAmount& amount : row.amounts) amount.start_interval();
    if (live_.contains(group)) {
      row.ended.reset();
    } else if (!row.ended) {
      row.ended = at;
    }
  }
  std::erase_if(rows_, [&](const auto& entry) {
    const LedgerRow& row = entry.second;
    if (!row.ended || at - *row.ended < kKept) return false;
    for (std::size_t i = 0; i < row.amounts.size(); ++i) domains_[i].ended_uj += row.amounts[i].uj;
    return true;
  });
}

template <class Group>
void LedgerOf<Group>::give_rows(const std::vector<EnergyAmong<Group>>& divided) {
  std::map<Group, std::uint64_t> wanted;
  for (const EnergyAmong<Group>& energy : divided) {
    for (const auto& [group, uj] : energy.groups_uj) {
      if (uj > 0 && !rows_.contains(group) && before_.contains(group)) wanted[group] += uj;
    }
  }
  std::vector<std::pair<std::uint64_t, const Group*>> order;
  order.reserve(wanted.size());
  for (const auto& [group, uj] : wanted) order.emplace_back(uj, &group);
  std::ranges::stable_sort(order, std::ranges::greater(), &decltype(order)::value_type::first);
  for (const auto& [uj, group] : order) {
    if (rows_.size() >= most_rows_) return;
    rows_.try_emplace(*group);
  }
}

template <class Group>
void LedgerOf<Group>::take(std::size_t place, Seconds length, const EnergyAmong<Group>& divided) {
  LedgerDomain& domain = domains_[place];
  domain.covers = divided.covers;
  domain.length = length;
  domain.undivided_reason = divided.undivided_reason;
  domain.measured.add(divided.measured_uj);
  domain.idle.add(divided.idle_uj);
  domain.unexplained.add(divided.unexplained_uj);
  domain.rest.add(divided.rest_uj);
  domain.undivided.add(divided.undivided_uj);
  for (const auto& [group, uj] : divided.groups_uj) {
    const auto row = rows_.find(group);
    if (row == rows_.end()) {
      domain.other.add(uj);
      continue;
    }
    std::vector<SharedAmount>& amounts = row->second.amounts;
    if (amounts.size() <= place) amounts.resize(place + 1);
    const auto range = divided.ranges_uj.find(group);
    amounts[place].add(uj, range == divided.ranges_uj.end() ? GroupRange{uj, uj} : range->second);
  }
}

template <class Group>
void LedgerOf<Group>::add(TimePoint at, Seconds length,
                          const std::vector<EnergyAmong<Group>>& divided, std::set<Group> live) {
  for (const EnergyAmong<Group>& energy : divided) {
    for (const auto& [group, uj] : energy.groups_uj) {
      if (uj > 0) live.insert(group);
    }
  }
  before_ = std::exchange(live_, std::move(live));
  for (LedgerDomain& domain : domains_) {
    domain.length = Seconds(0);
    for (SharedAmount* const amount : {&domain.measured, &domain.idle, &domain.unexplained,
                                       &domain.rest, &domain.undivided, &domain.other}) {
      amount->start_interval();
    }
  }
  end_rows(at);
  give_rows(divided);
  for (const EnergyAmong<Group>& energy : divided) take(place_of(energy), length, energy);
}

template class LedgerOf<CgroupGroup>;
template class LedgerOf<GpuProcess>;

}  // namespace wattle::daemon
