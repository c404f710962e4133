#include "base/log.hpp"

#include <unistd.h>

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/files/appended_file.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// The log until `set_log` is called.
class StderrLog {
 public:
  void operator()(std::string_view message) {
    constexpr std::size_t kMost = 100;
    if (printed_.size() == kMost || !printed_.emplace(message).second) return;
    (void)write_all_quietly(STDERR_FILENO, "wattle: " + std::string(message) + "\n");
  }

 private:
  std::set<std::string> printed_;
};

struct Listener {
  std::mutex mutex;
  Log log = StderrLog();
};

/// Never destroyed: a thread that still waits for a driver may log later.
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
    // The log must not throw. There is no other place for the message.
  }
}

}  // namespace wattle
