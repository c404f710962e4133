#include "base/state_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <system_error>

#include "base/clock.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// Empty where it is not set, not absolute, or somebody else's to set.
fs::path folder_in(const char* variable) {
  const char* const value = ::secure_getenv(variable);
  const fs::path folder = value != nullptr ? value : "";
  return folder.is_absolute() ? folder : fs::path();
}

}  // namespace

fs::path state_folder() {
  if (const fs::path state = folder_in("XDG_STATE_HOME"); !state.empty()) return state / "wattle";
  if (const fs::path home = folder_in("HOME"); !home.empty()) return home / ".local/state/wattle";
  throw Error("there is no state folder: neither XDG_STATE_HOME nor HOME is set");
}

fs::path new_state_file(std::string_view what, std::string_view extension) {
  static std::atomic<unsigned> number{0};
  const fs::path folder = state_folder() / what;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw WriteError(folder.string(), error.value());
  for (;;) {
    // Process numbers come again, and are those of other machines too where homes are shared.
    const auto moment = static_cast<unsigned long long>(to_unix(machine_clock().now()) * 1e3);
    fs::path path = folder / fmt::format("{}-{}-{}{}", ::getpid(), moment, number++, extension);
    if (!fs::exists(path, error)) return path;
  }
}

}  // namespace wattle
