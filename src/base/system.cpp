#include "wattle/system.hpp"

#include <sys/auxv.h>

#include <cstdlib>

#include "base/environment.hpp"

namespace wattle {
namespace {

/// Leaves `place` as it is where the variable is not set, or empty.
template <class Place>
void override_from(const char* variable, Place& place) {
  const char* const value = environment_variable(variable);
  if (value != nullptr && *value != '\0') place = value;
}

}  // namespace

const char* environment_variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): see the header
}

System System::from_environment() {
  System system;
  if (::getauxval(AT_SECURE) != 0) return system;
  override_from("WATTLE_SYSFS", system.sysfs);
  override_from("WATTLE_PROCFS", system.procfs);
  override_from("WATTLE_NVML_LIBRARY", system.nvml_library);
  // The last one that is set counts.
  override_from("ZEUSD_SOCK_PATH", system.daemon_socket);
  override_from("WATTLE_SOCK_PATH", system.daemon_socket);
  if (system.daemon_socket == "none") system.daemon_socket.clear();
  override_from("ZEUSD_TOKEN", system.daemon_token);
  override_from("WATTLE_TOKEN", system.daemon_token);
  return system;
}

}  // namespace wattle
