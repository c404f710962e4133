#include "gpu_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "log.hpp"

namespace wattle::daemon {
namespace {

/// Drivers can be slow to lock clocks; clients of zeusd wait 5 s.
constexpr std::chrono::seconds kSetPatience{4};
/// The service manager kills a service that takes longer than 5 s to end.
constexpr std::chrono::seconds kRestorePatience{3};

unsigned status_of(SettingFailure::Cause cause) noexcept {
  switch (cause) {
    case SettingFailure::Cause::out_of_range:
    case SettingFailure::Cause::not_offered:
      return 400;
    case SettingFailure::Cause::denied:
      return 403;
    case SettingFailure::Cause::failed:
      break;
  }
  return 500;
}

DeviceFault fault_of(const SettingFailure& failure, const Sensor& sensor) {
  const unsigned status = status_of(failure.cause);
  if (failure.cause != SettingFailure::Cause::out_of_range) {
    return driver_fault(status, sensor, failure.message);
  }
  // zeusd's text, by which its clients recognize the error.
  return {status, "Invalid request: " + failure.message};
}

/// The permanent identity of a GPU.
std::string id_of(const Sensor& sensor) {
  const DeviceInfo* const info = sensor.device();
  if (info == nullptr) return {};
  return info->id.empty() ? info->pci_address : info->id;
}

SettingKind kind_of(ClockKind clock) noexcept {
  return clock == ClockKind::gpu ? SettingKind::gpu_clocks : SettingKind::memory_clocks;
}

/// The current value, as in the journal; absent: unknown.
std::optional<std::uint64_t> value_of(const DeviceSettings& now, SettingKind kind) {
  if (kind == SettingKind::power_limit_mw) return now.power_limit_mw;
  if (kind != SettingKind::persistence_mode || !now.persistence_mode) return std::nullopt;
  return *now.persistence_mode ? 1 : 0;
}

/// The kind of a setting.
SettingKind kind_of(const DeviceSetting& setting) noexcept {
  if (std::holds_alternative<PowerLimit>(setting)) return SettingKind::power_limit_mw;
  if (std::holds_alternative<PersistenceMode>(setting)) return SettingKind::persistence_mode;
  if (const auto* const locked = std::get_if<LockedClocks>(&setting)) return kind_of(locked->clock);
  return kind_of(std::get<FreeClocks>(setting).clock);
}

/// Records the current value in the journal. Returns the fault if that fails.
std::optional<DeviceFault> record_in_journal(SettingsJournal& journal, const std::string& device,
                                             SettingKind kind, const DeviceSettings& now) {
  const std::optional<std::uint64_t> before = value_of(now, kind);
  const bool is_clock = kind == SettingKind::gpu_clocks || kind == SettingKind::memory_clocks;
  if (!before && !is_clock) return std::nullopt;  // unknown, so it cannot be restored
  const int error = journal.begin({.device = device, .kind = kind, .before = before.value_or(0)});
  if (error == 0) return std::nullopt;
  return DeviceFault{
      500, fmt::format("IOError: cannot write {}, the journal of settings to restore: {}",
                       printable(journal.path()), std::generic_category().message(error))};
}

/// Sets a GPU. The jobs of its thread own it.
struct Tools {
  std::shared_ptr<SettingsJournal> journal;
  std::shared_ptr<const CommandRunner> commands;
};

bool have_command(const Tools& tools, std::span<const DeviceSetting> settings) {
  return tools.commands && tools.commands->has(call_of(settings).operation);
}

/// Makes all of `settings` with the administrator's command.
std::optional<DeviceFault> set_by_command(const CommandRunner& commands, wire::DeviceId id,
                                          Sensor& sensor, std::span<const DeviceSetting> settings) {
  for (const DeviceSetting& setting : settings) {
    if (const auto failure = sensor.check(setting)) return fault_of(*failure, sensor);
  }
  const auto failure = commands.run(call_of(settings), id);
  if (!failure) return std::nullopt;
  return DeviceFault{500, "Override command failed: " + *failure};
}

/// `settings`: those of one call.
std::optional<DeviceFault> apply(wire::DeviceId id, Sensor& sensor,
                                 std::span<const DeviceSetting> settings, const Tools& tools) {
  if (have_command(tools, settings)) return set_by_command(*tools.commands, id, sensor, settings);
  const auto failure = sensor.set(settings.front());
  return failure ? std::optional(fault_of(*failure, sensor)) : std::nullopt;
}

std::optional<DeviceFault> set_some(wire::DeviceId id, Sensor& sensor,
                                    std::span<const DeviceSetting> settings, const Tools& tools) {
  const std::string device = id_of(sensor);
  SettingsJournal* const journal = tools.journal.get();
  if (journal == nullptr || device.empty()) return apply(id, sensor, settings, tools);
  // Only clocks are unlocked together.
  const SettingKind kind = kind_of(settings.front());
  const bool frees = std::holds_alternative<FreeClocks>(settings.front());
  const bool was_changed = journal->holds(device, kind);
  if (!frees) {
    auto fault = record_in_journal(*journal, device, kind, sensor.settings());
    if (fault) return fault;
  }
  std::optional<DeviceFault> fault = apply(id, sensor, settings, tools);
  if (frees ? !fault : fault && !was_changed) {
    for (const DeviceSetting& setting : settings) journal->forget(device, kind_of(setting));
  } else if (!frees) {
    journal->finish(device, kind, value_of(sensor.settings(), kind));
  }
  return fault;
}

GpuAnswer set_all(wire::DeviceId id, Sensor& sensor, std::span<const DeviceSetting> settings,
                  const Tools& tools) {
  GpuAnswer answer;
  if (have_command(tools, settings)) {
    answer.fault = set_some(id, sensor, settings, tools);
    return answer;
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::optional<DeviceFault> fault = set_some(id, sensor, settings.subspan(i, 1), tools);
    if (!answer.fault) answer.fault = std::move(fault);
  }
  return answer;
}

DeviceSetting setting_before(const ChangedSetting& change) {
  switch (change.kind) {
    case SettingKind::power_limit_mw:
      return PowerLimit{static_cast<std::uint32_t>(change.before)};
    case SettingKind::persistence_mode:
      return PersistenceMode{change.before != 0};
    case SettingKind::gpu_clocks:
      return FreeClocks{ClockKind::gpu};
    case SettingKind::memory_clocks:
      break;
  }
  return FreeClocks{ClockKind::memory};
}

void restore_one(wire::DeviceId id, Sensor& sensor, const ChangedSetting& change,
                 const Tools& tools) {
  const DeviceSetting before = setting_before(change);
  const auto now = value_of(sensor.settings(), change.kind);
  if (now && change.set && *now != *change.set) {
    if (*now != change.before) {
      log_warning(fmt::format("{} is not restored to {}: another program has changed it",
                              printable(change.device), to_string(before)));
    }
  } else if (const auto fault = apply(id, sensor, {&before, 1}, tools)) {
    log_error(fmt::format("cannot restore {} to {}: {}", printable(change.device),
                          to_string(before), fault->message));
    return;
  } else {
    log_info(fmt::format("restored {} to {}", printable(change.device), to_string(before)));
  }
  tools.journal->forget(change.device, change.kind);
}

GpuAnswer restore_all(wire::DeviceId id, Sensor& sensor, const Tools& tools) {
  const std::string device = id_of(sensor);
  for (const ChangedSetting& change : tools.journal->changed()) {
    if (change.device == device) restore_one(id, sensor, change, tools);
  }
  return {};
}

}  // namespace

GpuControl::GpuControl(Gpus& gpus, std::shared_ptr<SettingsJournal> journal,
                       std::shared_ptr<const CommandRunner> commands)
    : gpus_(gpus), journal_(std::move(journal)), commands_(std::move(commands)) {}

std::chrono::nanoseconds GpuControl::patience_for(std::span<const DeviceSetting> settings) const {
  std::chrono::nanoseconds patience = kSetPatience;
  if (!commands_) return patience;
  const ControlOperation together = call_of(settings).operation;
  if (commands_->has(together)) return patience + commands_->longest(together);
  for (const DeviceSetting& setting : settings) {
    patience += commands_->longest(call_of({&setting, 1}).operation);
  }
  return patience;
}

void GpuControl::set(const Ids& ids, std::vector<DeviceSetting> settings, Then then) {
  if (has_ended_) {
    Gpus::Answers answers;
    for (const wire::DeviceId id : ids)
      answers[id].fault = DeviceFault{503, "the daemon is stopping"};
    return then(answers);
  }
  const std::chrono::nanoseconds patience = patience_for(settings);
  gpus_.run_in_threads(
      ids,
      [settings = std::move(settings), tools = Tools{journal_, commands_}](
          wire::DeviceId id, Sensor& sensor) { return set_all(id, sensor, settings, tools); },
      patience, std::move(then));
}

void GpuControl::restore(Work then) {
  Ids ids;
  std::chrono::nanoseconds patience = kRestorePatience;
  if (journal_) {
    const std::vector<ChangedSetting> changed = journal_->changed();
    for (const ChangedSetting& change : changed) {
      const DeviceSetting before = setting_before(change);
      if (commands_) patience += commands_->longest(call_of({&before, 1}).operation);
    }
    for (const wire::DeviceId id : gpus_.ids()) {
      const std::string device = id_of(gpus_.sensor(id));
      if (std::ranges::find(changed, device, &ChangedSetting::device) != changed.end()) {
        ids.push_back(id);
      }
    }
  }
  if (ids.empty()) return then();
  gpus_.run_in_threads(
      ids,
      [tools = Tools{journal_, commands_}](wire::DeviceId id, Sensor& sensor) {
        return restore_all(id, sensor, tools);
      },
      patience,
      [then = std::move(then)](const Gpus::Answers& answers) {
        for (const auto& [id, answer] : answers) {
          if (answer.fault) {
            log_error(fmt::format("cannot restore GPU {}: {}", id, answer.fault->message));
          }
        }
        then();
      },
      WhenBusy::wait);
}

void GpuControl::end(Work then) {
  has_ended_ = true;
  restore(std::move(then));
}

}  // namespace wattle::daemon
