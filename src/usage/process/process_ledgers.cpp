#include "usage/process/process_ledgers.hpp"

namespace wattle {

void SwitchLedger::update(const std::vector<Thread>& threads, bool counts_new) {
  auto before = threads_.cbegin();
  for (const Thread& thread : threads) {
    while (before != threads_.cend() && before->number < thread.number) ++before;
    const bool was_there = before != threads_.cend() && before->number == thread.number;
    if (!was_there && !counts_new) continue;
    for (std::size_t i = 0; i < total_.size(); ++i) {
      // A lower count is another thread's that got the same number.
      const std::int64_t from =
          was_there && before->counts[i] <= thread.counts[i] ? before->counts[i] : 0;
      total_[i] += thread.counts[i] - from;
    }
  }
  threads_ = threads;
}

void ProcessActivity::inherit(const ProcessActivity& child) noexcept {
  for (std::size_t i = 0; i < io.size(); ++i) io[i].inherit(child.io[i]);
  minor_faults.inherit(child.minor_faults);
  major_faults.inherit(child.major_faults);
}

void ProcessActivity::inherit_children_of(const ProcessActivity& child) noexcept {
  for (std::size_t i = 0; i < io.size(); ++i) io[i].leave_out(child.io[i]);
  minor_faults.inherit_children_of(child.minor_faults);
  major_faults.inherit_children_of(child.major_faults);
}

void ProcessActivity::add_to(ActivityTotals& totals, bool is_tracker) const noexcept {
  totals.minor_faults += is_tracker ? minor_faults.children() : minor_faults.total();
  totals.major_faults += is_tracker ? major_faults.children() : major_faults.total();
  if (is_tracker) return;
  for (std::size_t i = 0; i < io.size(); ++i) totals.io[i] += io[i].total();
  for (std::size_t i = 0; i < totals.switches.size(); ++i) {
    totals.switches[i] += switches.total()[i];
  }
}

}  // namespace wattle
