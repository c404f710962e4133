#include "control/setting_work.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/text/text.hpp"
#include "serve/log.hpp"

namespace wattle::daemon {
namespace {

unsigned status_of(SettingFailure::FailureCause cause) noexcept {
  switch (cause) {
    case SettingFailure::FailureCause::out_of_range:
    case SettingFailure::FailureCause::not_offered:
      return 400;
    case SettingFailure::FailureCause::denied:
      return 403;
    case SettingFailure::FailureCause::failed:
      break;
  }
  return 500;
}

DeviceFault fault_of(const SettingFailure& failure, const Sensor& sensor) {
  const unsigned status = status_of(failure.cause);
  if (failure.cause != SettingFailure::FailureCause::out_of_range) {
    return driver_fault(status, sensor, failure.message);
  }
  // zeusd's text, by which its clients recognize the error.
  return {status, "Invalid request: " + failure.message};
}

/// The current value, as in the journal; absent: unknown.
std::optional<std::uint64_t> value_of(const DeviceSettings& now, SettingKind kind) {
  if (kind == SettingKind::power_limit_mw) return now.power_limit_mw;
  if (kind != SettingKind::persistence_mode || !now.persistence_mode) return std::nullopt;
  return *now.persistence_mode ? 1 : 0;
}

std::optional<std::uint64_t> value_of(const GpuHandle& gpu, SettingKind kind) {
  const auto now = gpu.run([](Sensor& sensor) { return sensor.settings(); });
  return now ? value_of(*now, kind) : std::nullopt;
}

/// Records the current value in the journal. Returns the fault if that fails.
std::optional<DeviceFault> record_in_journal(SettingsJournal& journal, const std::string& device,
                                             SettingKind kind,
                                             std::optional<std::uint64_t> before) {
  const bool is_clock = kind == SettingKind::gpu_clocks || kind == SettingKind::memory_clocks;
  if (!before && !is_clock) return std::nullopt;  // unknown, so it cannot be restored
  const int error = journal.begin({.device = device, .kind = kind, .before = before.value_or(0)});
  if (error == 0) return std::nullopt;
  return DeviceFault{
      500, fmt::format("IOError: cannot write {}, the journal of settings to restore: {}",
                       printable(journal.path()), std::generic_category().message(error))};
}

/// As `record_in_journal`, unless the setting is cancelled in that time.
std::optional<DeviceFault> record(SettingsJournal& journal, const GpuHandle& gpu, SettingKind kind,
                                  SettingProgress& progress) {
  const std::optional<std::uint64_t> before = value_of(gpu, kind);
  progress.begin_journal();
  auto fault = record_in_journal(journal, journal_name(gpu.sensor()), kind, before);
  if (!progress.end_journal()) return slow_journal(journal);
  return fault;
}

/// The fault of what `ask(sensor)` returns in the GPU's thread.
template <class Ask>
std::optional<DeviceFault> failure_in_thread(const GpuHandle& gpu, Ask ask) {
  const auto answer = gpu.run(std::move(ask));
  if (!answer) return DeviceFault{503, "GPU error: its thread has ended or cannot be started"};
  return *answer ? std::optional(fault_of(**answer, gpu.sensor())) : std::nullopt;
}

/// The first setting that the GPU is known to reject without asking its driver.
std::optional<DeviceFault> check(const GpuHandle& gpu, std::span<const DeviceSetting> settings) {
  for (const DeviceSetting& setting : settings) {
    auto fault =
        failure_in_thread(gpu, [&setting](Sensor& sensor) { return sensor.check(setting); });
    if (fault) return fault;
  }
  return std::nullopt;
}

/// Makes what `check` has passed.
std::optional<DeviceFault> apply(const GpuHandle& gpu, std::span<const DeviceSetting> settings,
                                 const CommandRunner* commands) {
  const ControlCall call = call_of(settings);
  if (commands == nullptr || !commands->has(call.operation)) {
    return failure_in_thread(gpu, [&](Sensor& sensor) { return sensor.set(settings.front()); });
  }
  const auto failure = commands->run(call, gpu.id());
  if (!failure) return std::nullopt;
  return DeviceFault{500, "Override command failed: " + *failure};
}

void restore_one(const GpuHandle& gpu, const ChangedSetting& change, const SettingTools& tools) {
  const DeviceSetting before = setting_before(change);
  const auto now = value_of(gpu, change.kind);
  if (now && change.set && *now != *change.set) {
    if (*now != change.before) {
      log_warning(fmt::format("{} is not restored to {}: another program has changed it",
                              printable(change.device), to_string(before)));
    }
  } else if (const auto fault = apply(gpu, {&before, 1}, tools.commands.get())) {
    log_error(fmt::format("cannot restore {} to {}: {}", printable(change.device),
                          to_string(before), fault->message));
    return;
  } else {
    log_info(fmt::format("restored {} to {}", printable(change.device), to_string(before)));
  }
  tools.journal->forget(change.device, change.kind);
}

}  // namespace

std::string journal_name(const Sensor& sensor) {
  const DeviceInfo* const info = sensor.device();
  if (info == nullptr) return {};
  return info->id.empty() ? info->pci_address : info->id;
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

DeviceFault slow_journal(const SettingsJournal& journal) {
  return {503, fmt::format("IOError: {}, the journal of settings to restore, could not be written "
                           "in time; the setting was not made",
                           printable(journal.path()))};
}

std::optional<DeviceFault> make_settings(const GpuHandle& gpu,
                                         std::span<const DeviceSetting> settings,
                                         const SettingTools& tools, SettingProgress& progress,
                                         const Work& after_journal) {
  if (auto fault = check(gpu, settings)) return fault;
  const CommandRunner* const commands = tools.commands.get();
  const std::string device = journal_name(gpu.sensor());
  SettingsJournal* const journal = tools.journal.get();
  if (journal == nullptr || device.empty()) return apply(gpu, settings, commands);
  // Only clocks are freed together.
  const SettingKind kind = kind_of(settings.front());
  const bool frees = std::holds_alternative<FreeClocks>(settings.front());
  const bool was_changed = journal->holds(device, kind);
  std::optional<DeviceFault> fault;
  if (!frees) {
    fault = record(*journal, gpu, kind, progress);
    after_journal();
  }
  if (!fault) fault = apply(gpu, settings, commands);
  if (frees ? !fault : fault && !was_changed) {
    for (const DeviceSetting& setting : settings) journal->forget(device, kind_of(setting));
  } else if (!frees) {
    journal->finish(device, kind, value_of(gpu, kind));
  }
  return fault;
}

void restore_settings(const GpuHandle& gpu, const SettingTools& tools) {
  const std::string device = journal_name(gpu.sensor());
  for (const ChangedSetting& change : tools.journal->changed()) {
    if (change.device == device) restore_one(gpu, change, tools);
  }
}

}  // namespace wattle::daemon
