// The loaded library with NVML initialized in it, shared by everyone who may be inside a call.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "base/dynlib.hpp"
#include "sensors/nvml/api.hpp"

namespace wattle::nvml {

/// Held by `shared_ptr` by every sensor and every thread that calls NVML: the last one to let go
/// shuts NVML down and unloads it, so that never happens while a call is out, however long that
/// hangs. Threads: any.
class Session {
 public:
  explicit Session(DynamicLibrary library) noexcept : api_{.library = std::move(library)} {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (initialized_) (void)call(api_.shutdown);
  }

  /// Initializes NVML, or does so again where somebody else in this process has shut it down.
  [[nodiscard]] Return init() noexcept {
    const Return result = call(api_.init);
    if (result == Return::success) initialized_ = true;
    return result;
  }

  [[nodiscard]] const Api& api() const noexcept { return api_; }
  /// The file that was loaded.
  [[nodiscard]] std::string path() const { return api_.library.path(); }

 private:
  Api api_;
  std::atomic<bool> initialized_ = false;
};

}  // namespace wattle::nvml
