#include "control/gpu_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "base/text/text.hpp"
#include "serve/log.hpp"

namespace wattle::daemon {
namespace {

/// Drivers can be slow to lock clocks; clients of zeusd wait 5 s.
constexpr std::chrono::seconds kSetPatience{4};
/// The service manager kills a service that takes longer than 5 s to end.
constexpr std::chrono::seconds kRestorePatience{3};
/// Most callers that wait for settings of one GPU.
constexpr std::size_t kMostSetters = 4096;

// A setting that was not made is refused with 503: the request may be sent again.

DeviceFault stopping() { return {503, "the daemon is stopping; the setting was not made"}; }
DeviceFault too_many_setters() {
  return {503, fmt::format("GPU error: {} requests already wait to set it", kMostSetters)};
}
DeviceFault no_thread() { return {503, "GPU error: no thread can be started to set it"}; }
DeviceFault busy() {
  return {503, "GPU error: earlier settings of this GPU take too long; this one was not made"};
}
DeviceFault begun_late() {
  return {503,
          "GPU error: earlier settings of this GPU, or the disk, take too long; this one is "
          "being made, or fails, after this answer"};
}

}  // namespace

/// One request for several GPUs.
struct GpuControl::Round {
  Outcomes outcomes;
  std::map<wire::DeviceId, PendingSettings::Ticket> missing;
  Then then;
  std::unique_ptr<Timer> deadline;  ///< null: nobody waits

  void end_one(wire::DeviceId id, const SettingOutcome& outcome) {
    outcomes[id] = outcome;
    missing.erase(id);
    if (missing.empty()) finish();
  }
  void finish() {
    if (!then) return;
    if (deadline) deadline->cancel();
    std::exchange(then, nullptr)(outcomes);
  }
};

GpuControl::GpuControl(Gpus& gpus, Loop& loop, std::shared_ptr<SettingsJournal> journal,
                       std::shared_ptr<const CommandRunner> commands)
    : gpus_(gpus),
      loop_(loop),
      tools_{.journal = std::move(journal), .commands = std::move(commands)},
      joins_clocks_(tools_.commands &&
                    tools_.commands->has(ControlOperation::reset_locked_clocks)) {
  for (const wire::DeviceId id : gpus.ids()) controlled_.try_emplace(id);
}

std::chrono::nanoseconds GpuControl::longest_command(
    std::span<const DeviceSetting> settings) const {
  std::chrono::nanoseconds longest{0};
  if (!tools_.commands) return longest;
  const CommandRunner& commands = *tools_.commands;
  const ControlOperation together = call_of(settings).operation;
  if (commands.has(together)) return commands.longest(together);
  for (const DeviceSetting& setting : settings) {
    longest += commands.longest(call_of({&setting, 1}).operation);
  }
  return longest;
}

std::optional<DeviceFault> GpuControl::refusal(Controlled& gpu, Caller caller) const {
  if (has_ended_) return stopping();
  if (caller == Caller::waits && gpu.pending.awaited() >= kMostSetters) return too_many_setters();
  if (!gpu.has_thread) gpu.has_thread = gpu.thread->add([] {});
  return gpu.has_thread ? std::nullopt : std::optional(no_thread());
}

std::optional<DeviceFault> GpuControl::set(const Ids& ids,
                                           const std::vector<DeviceSetting>& settings,
                                           Caller caller, Then then) {
  for (const wire::DeviceId id : ids) {
    if (auto fault = refusal(controlled_.at(id), caller)) return fault;
  }
  const auto round = std::make_shared<Round>();
  round->then = std::move(then);
  const bool waits = caller == Caller::waits;
  for (const wire::DeviceId id : ids) {
    round->missing[id] = controlled_.at(id).pending.add(
        settings, [round, id](const SettingOutcome& outcome) { round->end_one(id, outcome); },
        waits);
  }
  if (waits) {
    round->deadline = loop_.make_timer();
    round->deadline->start(loop_.now() + kSetPatience + longest_command(settings),
                           [this, round] { give_up(*round); });
  }
  for (const wire::DeviceId id : ids) make_next(id);
  return std::nullopt;
}

void GpuControl::give_up(Round& round) {
  for (const auto& [id, ticket] : round.missing) {
    Controlled& gpu = controlled_.at(id);
    round.outcomes[id].fault = gpu.pending.withdraw(ticket) ? busy() : why_late(gpu);
  }
  round.finish();
}

DeviceFault GpuControl::why_late(const Controlled& gpu) const {
  if (gpu.progress->cancel()) return slow_journal(*tools_.journal);
  // The driver, or the command, is at fault if most of the wait was for it.
  const std::chrono::nanoseconds patience =
      kSetPatience + longest_command(gpu.pending.current()->settings);
  return loop_.now() - gpu.asks_driver_since >= patience / 2 ? no_answer() : begun_late();
}

void GpuControl::make_next(wire::DeviceId id) {
  Controlled& gpu = controlled_.at(id);
  const auto next = gpu.pending.start(joins_clocks_);
  if (!next) return;
  gpu.progress = std::make_shared<SettingProgress>();
  gpu.asks_driver_since = loop_.now();
  // The result goes back to the loop: the thread may outlive this object.
  const auto work = [this, settings = next->settings, handle = gpus_.handle(id), tools = tools_,
                     progress = gpu.progress, post = loop_.poster()] {
    const auto fault = make_settings(handle, settings, tools, *progress, [&] {
      post([this, id = handle.id()] { controlled_.at(id).asks_driver_since = loop_.now(); });
    });
    post([this, id = handle.id(), fault] {
      Controlled& made = controlled_.at(id);
      made.pending.finish(fault);
      if (has_ended_) return made.pending.drop(stopping());
      make_next(id);
      if (!made.pending.current()) flush_journal(id);
    });
  };
  if (!gpu.thread->add(work)) gpu.pending.finish(no_thread());
}

void GpuControl::flush_journal(wire::DeviceId id) {
  if (!tools_.journal) return;
  Controlled& gpu = controlled_.at(id);
  const auto work = [this, id, journal = tools_.journal, post = loop_.poster()] {
    journal->flush();
    post([this, id] { --controlled_.at(id).flushes; });
  };
  // Without a thread the file has the setting, but not its value.
  if (gpu.thread->add(work)) ++gpu.flushes;
}

Ids GpuControl::changed_gpus(const std::vector<ChangedSetting>& changed) const {
  Ids ids;
  for (const auto& [id, gpu] : controlled_) {
    const std::string device = journal_name(gpus_.sensor(id));
    const bool is_changed =
        std::ranges::find(changed, device, &ChangedSetting::device) != changed.end();
    // A setting in progress may not be in the journal yet, and a failed one may still be in its
    // file.
    if (is_changed || gpu.pending.current() || gpu.flushes > 0) ids.push_back(id);
  }
  return ids;
}

std::chrono::nanoseconds GpuControl::restore_patience(
    const std::vector<ChangedSetting>& changed) const {
  std::chrono::nanoseconds patience = kRestorePatience;
  for (const ChangedSetting& change : changed) {
    const DeviceSetting before = setting_before(change);
    patience += longest_command({&before, 1});
  }
  for (const auto& [id, gpu] : controlled_) {
    if (const auto& current = gpu.pending.current()) {
      patience += 2 * longest_command(current->settings);
    }
  }
  return patience;
}

void GpuControl::restore(Work then) {
  if (!tools_.journal) return then();
  const std::vector<ChangedSetting> changed = tools_.journal->changed();
  const Ids ids = changed_gpus(changed);
  if (ids.empty()) return then();
  struct Restoring {
    /// True: all that is missing is that the journal says so.
    std::map<wire::DeviceId, std::shared_ptr<std::atomic<bool>>> missing;
    Work then;
    std::unique_ptr<Timer> deadline;
  };
  const auto round = std::make_shared<Restoring>();
  for (const wire::DeviceId id : ids) {
    round->missing[id] = std::make_shared<std::atomic<bool>>(false);
  }
  round->then = std::move(then);
  round->deadline = loop_.make_timer();
  const auto finish = [](Restoring& all) {
    all.deadline->cancel();
    if (all.then) std::exchange(all.then, nullptr)();
  };
  round->deadline->start(
      loop_.now() + restore_patience(changed), [round, finish, journal = tools_.journal] {
        for (const auto& [id, is_restored] : round->missing) {
          if (*is_restored) {
            log_warning(
                fmt::format("GPU {} is restored, but {} could not be written in time: the next "
                            "wattled may restore it again",
                            id, printable(journal->path())));
          } else {
            log_error(fmt::format("cannot restore GPU {}: {}", id, no_answer().message));
          }
        }
        finish(*round);
      });
  for (const wire::DeviceId id : ids) {
    const auto work = [round, finish, handle = gpus_.handle(id), tools = tools_,
                       is_restored = round->missing.at(id), post = loop_.poster()] {
      restore_settings(handle, tools);
      *is_restored = true;
      tools.journal->flush();
      post([round, finish, id = handle.id()] {
        round->missing.erase(id);
        if (round->missing.empty()) finish(*round);
      });
    };
    if (!controlled_.at(id).thread->add(work)) {
      log_error(fmt::format("cannot restore GPU {}: {}", id, no_thread().message));
    }
  }
}

void GpuControl::end(Work then) {
  has_ended_ = true;
  for (auto& [id, gpu] : controlled_) gpu.pending.drop(stopping());
  restore(std::move(then));
}

}  // namespace wattle::daemon
