#include "wattle/system.hpp"

#include <sys/auxv.h>

#include <cstdlib>

namespace wattle {
namespace {

template <class Place>
void override_from(const char* variable, Place& place) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): documented: nobody may change the environment meanwhile
  const char* value = std::getenv(variable);
  if (value != nullptr && *value != '\0') place = value;
}

}  // namespace

System System::from_environment() {
  System system;
  if (::getauxval(AT_SECURE) != 0) return system;
  override_from("WATTLE_SYSFS", system.sysfs);
  override_from("WATTLE_PROCFS", system.procfs);
  override_from("WATTLE_NVML_LIBRARY", system.nvml_library);
  return system;
}

}  // namespace wattle
