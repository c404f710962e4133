#include "control/pending_settings.hpp"

#include <algorithm>
#include <iterator>

namespace wattle::daemon {

PendingSettings::Ticket PendingSettings::add(const std::vector<DeviceSetting>& settings, Done done,
                                             bool is_awaited) {
  const Ticket ticket = ++last_;
  requests_.emplace(ticket, SettingRequest{.done = std::move(done),
                                           .open_parts = settings.size(),
                                           .is_awaited = is_awaited});
  if (is_awaited) ++awaited_;
  Ended ended;
  for (const DeviceSetting& setting : settings) {
    SettingSlot& slot = slot_of(setting);
    slot.parts.push_back({.ticket = ticket, .setting = setting, .is_awaited = is_awaited});
    if (!is_awaited) limit_unawaited(slot, ended);
  }
  call(ended);
  return ticket;
}

void PendingSettings::limit_unawaited(SettingSlot& slot, Ended& ended) {
  const auto is_unawaited = [](const SettingPart& part) { return !part.is_awaited; };
  if (std::ranges::count_if(slot.parts, is_unawaited) <= std::ptrdiff_t{kMostUnawaited}) return;
  const auto oldest = std::ranges::find_if(slot.parts, [&](const SettingPart& part) {
    return is_unawaited(part) && !is_current(part.ticket);
  });
  const Ticket ticket = oldest->ticket;
  slot.parts.erase(oldest);
  end_part(ticket, ended);
}

const PendingSettings::SettingPart* PendingSettings::SettingSlot::next() const noexcept {
  if (parts.empty()) return nullptr;
  // Parts are in the order of their tickets.
  const auto newer = std::ranges::lower_bound(parts, failed, {}, &SettingPart::ticket);
  const bool has_older = failed != 0 && newer != parts.begin();
  return has_older ? &*std::prev(newer) : &parts.back();
}

std::optional<PendingSettings::Attempt> PendingSettings::start(bool joins) {
  if (current_) return std::nullopt;
  // The kind whose next request is the oldest: none waits for a flood of another kind.
  const SettingPart* next = nullptr;
  for (const SettingSlot& slot : slots_) {
    const SettingPart* const of_kind = slot.next();
    if (of_kind == nullptr) continue;
    if (next == nullptr || of_kind->ticket < next->ticket) next = of_kind;
  }
  if (next == nullptr) return std::nullopt;
  current_ = Attempt{.ticket = next->ticket, .settings = {next->setting}};
  if (!joins) return current_;
  current_->settings.clear();
  for (const SettingSlot& slot : slots_) {
    // A newer setting that was made stays.
    if (slot.made > current_->ticket) continue;
    const auto part = std::ranges::find(slot.parts, current_->ticket, &SettingPart::ticket);
    if (part != slot.parts.end()) current_->settings.push_back(part->setting);
  }
  return current_;
}

void PendingSettings::finish(const std::optional<DeviceFault>& fault) {
  const std::optional<Attempt> attempt = std::exchange(current_, std::nullopt);
  Ended ended;
  for (const DeviceSetting& setting : attempt->settings) {
    SettingSlot& slot = slot_of(setting);
    if (fault) {
      std::erase_if(slot.parts,
                    [&](const SettingPart& part) { return part.ticket == attempt->ticket; });
      slot.failed = attempt->ticket;
      fail_part(attempt->ticket, *fault, ended);
    } else {
      end_made(slot, attempt->ticket, ended);
    }
  }
  call(ended);
}

void PendingSettings::end_made(SettingSlot& slot, Ticket made, Ended& ended) {
  slot.made = std::max(slot.made, made);
  slot.failed = 0;
  const auto newer =
      std::ranges::find_if(slot.parts, [&](const SettingPart& part) { return part.ticket > made; });
  std::vector<SettingPart> rest(newer, slot.parts.end());
  slot.parts.erase(newer, slot.parts.end());
  std::swap(slot.parts, rest);
  SettingRequest& request = requests_.at(made);
  request.is_made = true;
  request.outcome.superseded += rest.size() - 1;
  for (const SettingPart& part : rest) end_part(part.ticket, ended);
}

void PendingSettings::end_part(Ticket ticket, Ended& ended) {
  const auto found = requests_.find(ticket);
  SettingRequest& request = found->second;
  if (--request.open_parts > 0) return;
  if (request.is_awaited) --awaited_;
  request.outcome.is_superseded = !request.is_made && !request.outcome.fault;
  ended.emplace_back(std::move(request.done), std::move(request.outcome));
  requests_.erase(found);
}

void PendingSettings::fail_part(Ticket ticket, const DeviceFault& fault, Ended& ended) {
  SettingOutcome& outcome = requests_.at(ticket).outcome;
  if (!outcome.fault) outcome.fault = fault;
  end_part(ticket, ended);
}

bool PendingSettings::withdraw(Ticket ticket) {
  if (is_current(ticket)) return false;
  const auto found = requests_.find(ticket);
  if (found == requests_.end()) return true;
  for (SettingSlot& slot : slots_) {
    std::erase_if(slot.parts, [&](const SettingPart& part) { return part.ticket == ticket; });
  }
  if (found->second.is_awaited) --awaited_;
  requests_.erase(found);
  return true;
}

void PendingSettings::drop(const DeviceFault& why) {
  Ended ended;
  for (SettingSlot& slot : slots_) {
    std::vector<SettingPart> kept;
    for (const SettingPart& part : std::exchange(slot.parts, {})) {
      if (is_current(part.ticket)) {
        kept.push_back(part);
      } else {
        fail_part(part.ticket, why, ended);
      }
    }
    slot.parts = std::move(kept);
  }
  call(ended);
}

void PendingSettings::call(const Ended& ended) {
  for (const auto& [done, outcome] : ended) done(outcome);
}

}  // namespace wattle::daemon
