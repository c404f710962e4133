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

fs::path own_folder(std::string_view what, const char* variable, const char* in_home) {
  if (const fs::path folder = folder_in(variable); !folder.empty()) return folder / "wattle";
  if (const fs::path home = folder_in("HOME"); !home.empty()) return home / in_home / "wattle";
  throw Error(fmt::format("there is no {} folder: neither {} nor HOME is set", what, variable));
}

fs::path state_folder() { return own_folder("state", "XDG_STATE_HOME", ".local/state"); }

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
