#include <exception>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle {

EnergyHandler& default_handler() {
  // Never destroyed: a scope may end after everything static has.
  static auto& handler = *new PrintHandler;  // NOLINT(*-avoid-non-const-global-variables)
  return handler;
}

EnergyScope::EnergyScope() : EnergyScope(default_handler()) {}

EnergyScope::EnergyScope(std::string_view start_tag, EnergyMeterOptions options)
    : EnergyScope(default_handler(), std::move(options), start_tag) {}

EnergyScope::EnergyScope(EnergyHandler& handler, EnergyMeterOptions options,
                         std::string_view start_tag)
    : EnergyScope(handler, EnergyMeter(std::move(options)), start_tag) {}

EnergyScope::~EnergyScope() {
  try {
    close();
  } catch (const std::exception& error) {
    log(std::string("the energy of a scope was measured, but not handled: ") + error.what());
  } catch (...) {
    log("the energy of a scope was measured, but not handled: its handler threw");
  }
}

void EnergyScope::close() {
  if (closed_) return;
  closed_ = true;
  meter_.stop();
  handler_.process(meter_.trace());
}

}  // namespace wattle
