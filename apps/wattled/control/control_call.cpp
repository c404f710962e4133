#include "control/control_call.hpp"

#include <variant>

#include "base/json/enum_table.hpp"

namespace wattle::daemon {
namespace {

struct CallOf {
  ControlCall operator()(const PowerLimit& limit) const {
    return {ControlOperation::set_power_limit, {limit.mw}};
  }
  ControlCall operator()(const PersistenceMode& mode) const {
    return {ControlOperation::set_persistence_mode, {mode.is_on ? 1U : 0U}};
  }
  ControlCall operator()(const LockedClocks& clocks) const {
    return {clocks.clock == ClockKind::gpu ? ControlOperation::set_gpu_locked_clocks
                                           : ControlOperation::set_mem_locked_clocks,
            {clocks.min_mhz, clocks.max_mhz}};
  }
  ControlCall operator()(const FreeClocks& clocks) const {
    return {clocks.clock == ClockKind::gpu ? ControlOperation::reset_gpu_locked_clocks
                                           : ControlOperation::reset_mem_locked_clocks};
  }
};

}  // namespace

std::string_view name_of(ControlOperation operation) noexcept {
  return entry_of(kControlNames, operation);
}

ControlCall call_of(std::span<const DeviceSetting> settings) {
  if (settings.size() > 1) return {ControlOperation::reset_locked_clocks};
  return std::visit(CallOf{}, settings.front());
}

}  // namespace wattle::daemon
