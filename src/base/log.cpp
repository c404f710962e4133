#include "base/log.hpp"

#include <mutex>
#include <utility>

#include "wattle/error.hpp"

namespace wattle {
namespace {

struct Listener {
  std::mutex mutex;
  Log log;
};

/// Never destroyed: a thread that was left behind may still have something to say.
Listener& listener() {
  static auto& listener = *new Listener;  // NOLINT(*-avoid-non-const-global-variables)
  return listener;
}

}  // namespace

void set_log(Log log) {
  const std::lock_guard lock(listener().mutex);
  listener().log = std::move(log);
}

void log(std::string_view message) noexcept {
  try {
    const std::lock_guard lock(listener().mutex);
    if (listener().log) listener().log(message);
  } catch (...) {
    // A log that throws breaks its promise; nobody is left to be told.
  }
}

}  // namespace wattle
