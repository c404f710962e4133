#include <exception>
#include <string>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "energy/handlers/unsaved.hpp"
#include "wattle/handlers.hpp"

namespace wattle {

EnergyHandler::~EnergyHandler() = default;

void log_unsaved(std::size_t count, std::string_view what, std::string_view destination) noexcept {
  try {
    log(std::to_string(count) + " " + std::string(what) + " for " + printable(destination) +
        " are lost: call save_data before the handler is destroyed");
  } catch (const std::exception&) {
    // Out of memory, in a destructor.
  }
}

}  // namespace wattle
