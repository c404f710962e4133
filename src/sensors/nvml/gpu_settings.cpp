// Reads and changes the settings of a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "sensors/nvml/diagnosis.hpp"
#include "sensors/nvml/gpu_sensor.hpp"

namespace wattle::nvml {
namespace {

using Kind = SettingFailure::FailureCause;
using Range = std::pair<std::uint32_t, std::uint32_t>;

Kind kind_of(Return code) noexcept {
  switch (code) {
    case Return::no_permission:
      return Kind::denied;
    case Return::invalid_argument:
      return Kind::out_of_range;
    case Return::not_supported:
    case Return::function_not_found:
      return Kind::not_offered;
    default:
      return Kind::failed;
  }
}

std::optional<SettingFailure> failure_of(const Api& api, Return code) {
  if (code == Return::success) return std::nullopt;
  return SettingFailure{kind_of(code), describe(api, code)};
}

/// `given` lies within what the device takes, where that is known.
std::optional<SettingFailure> check(std::string_view what, std::string_view unit, Range given,
                                    const std::optional<Range>& taken) {
  const bool is_range = given.first <= given.second;
  if (is_range && (!taken || (given.first >= taken->first && given.second <= taken->second))) {
    return std::nullopt;
  }
  const std::string value = given.first == given.second
                                ? fmt::format("{} {}", given.first, unit)
                                : fmt::format("{} to {} {}", given.first, given.second, unit);
  if (!is_range) return SettingFailure{Kind::out_of_range, fmt::format("{} is no range", value)};
  return SettingFailure{Kind::out_of_range, fmt::format("the {} {} is outside of {} to {} {}", what,
                                                        value, taken->first, taken->second, unit)};
}

/// A list that the driver writes into what it is given room for.
template <class List>
std::vector<std::uint32_t> listed(List list) {
  constexpr std::uint32_t kMost = 1024;  // GPUs have some hundred
  std::vector<std::uint32_t> values(kMost);
  std::uint32_t count = kMost;
  if (list(&count, values.data()) != Return::success) return {};
  values.resize(std::min(count, kMost));
  std::erase(values, 0U);
  return values;
}

std::optional<Range> range_of(const std::vector<std::uint32_t>& values) {
  if (values.empty()) return std::nullopt;
  const auto [low, high] = std::ranges::minmax_element(values);
  return Range(*low, *high);
}

/// The clocks that the GPU can have; absent where it does not say.
std::optional<Range> clock_range(const Api& api, Handle handle, ClockKind clock) {
  const std::vector<std::uint32_t> memory = listed([&](std::uint32_t* count, std::uint32_t* mhz) {
    return call(api.memory_clocks, handle, count, mhz);
  });
  if (clock == ClockKind::memory) return range_of(memory);
  std::optional<Range> range;
  for (const std::uint32_t memory_mhz : memory) {
    const auto with_it = range_of(listed([&](std::uint32_t* count, std::uint32_t* mhz) {
      return call(api.graphics_clocks, handle, memory_mhz, count, mhz);
    }));
    if (!with_it) continue;
    range = range ? Range(std::min(range->first, with_it->first),
                          std::max(range->second, with_it->second))
                  : *with_it;
  }
  std::uint32_t highest = 0;
  if (!range && call(api.max_clock, handle, kClockGraphics, &highest) == Return::success) {
    range = Range(0, highest);
  }
  return range;
}

struct OutOfRange {
  const Api& api;
  Handle handle;

  std::optional<SettingFailure> operator()(const PowerLimit& limit) const {
    Range range;
    std::optional<Range> taken;
    if (call(api.power_limit_range, handle, &range.first, &range.second) == Return::success) {
      taken = range;
    }
    return check("power limit", "mW", {limit.mw, limit.mw}, taken);
  }
  std::optional<SettingFailure> operator()(const LockedClocks& clocks) const {
    return check(clocks.clock == ClockKind::gpu ? "GPU clock" : "memory clock", "MHz",
                 {clocks.min_mhz, clocks.max_mhz}, clock_range(api, handle, clocks.clock));
  }
  std::optional<SettingFailure> operator()(const PersistenceMode& /*mode*/) const { return {}; }
  std::optional<SettingFailure> operator()(const FreeClocks& /*clocks*/) const { return {}; }
};

struct Change {
  const Api& api;
  Handle handle;

  Return operator()(const PowerLimit& limit) const {
    return call(api.set_power_limit, handle, limit.mw);
  }
  Return operator()(const PersistenceMode& mode) const {
    return call(api.set_persistence_mode, handle, mode.is_on ? 1U : 0U);
  }
  Return operator()(const LockedClocks& clocks) const {
    const bool is_gpu = clocks.clock == ClockKind::gpu;
    return call(is_gpu ? api.lock_gpu_clocks : api.lock_memory_clocks, handle, clocks.min_mhz,
                clocks.max_mhz);
  }
  Return operator()(const FreeClocks& clocks) const {
    return call(clocks.clock == ClockKind::gpu ? api.free_gpu_clocks : api.free_memory_clocks,
                handle);
  }
};

}  // namespace

DeviceSettings NvmlGpuSensor::settings() noexcept {
  DeviceSettings settings;
  if (!is_here()) return settings;
  const Api& api = session_->api();
  auto* const handle = handle_.load();
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  if (call(api.power_limit, handle, &first) == Return::success) settings.power_limit_mw = first;
  if (call(api.power_limit_range, handle, &first, &second) == Return::success) {
    settings.power_limit_range_mw = {first, second};
  }
  if (call(api.persistence_mode, handle, &first) == Return::success) {
    settings.persistence_mode = first != 0;
  }
  return settings;
}

std::optional<SettingFailure> NvmlGpuSensor::check(const DeviceSetting& setting) {
  if (!is_here()) return SettingFailure{Kind::failed, "the GPU is lost"};
  return std::visit(OutOfRange{session_->api(), handle_}, setting);
}

std::optional<SettingFailure> NvmlGpuSensor::set(const DeviceSetting& setting) {
  if (auto failure = check(setting)) return failure;
  return failure_of(session_->api(), std::visit(Change{session_->api(), handle_}, setting));
}

}  // namespace wattle::nvml
