#include "sensors/device_setting.hpp"

#include <fmt/format.h>

namespace wattle {
namespace {

const char* name_of(ClockKind clock) noexcept {
  return clock == ClockKind::gpu ? "GPU clocks" : "memory clocks";
}

struct Text {
  std::string operator()(const PowerLimit& limit) const {
    return fmt::format("power limit {} mW", limit.mw);
  }
  std::string operator()(const PersistenceMode& mode) const {
    return mode.is_on ? "persistence mode on" : "persistence mode off";
  }
  std::string operator()(const LockedClocks& clocks) const {
    return fmt::format("{} {} to {} MHz", name_of(clocks.clock), clocks.min_mhz, clocks.max_mhz);
  }
  std::string operator()(const FreeClocks& clocks) const {
    return fmt::format("{} not locked", name_of(clocks.clock));
  }
};

}  // namespace

std::string to_string(const DeviceSetting& setting) { return std::visit(Text{}, setting); }

}  // namespace wattle
