#include "wattle/system.hpp"

#include <sys/auxv.h>

#include <cstdlib>

namespace wattle {
namespace {

void override_from(const char* variable, std::filesystem::path& path) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): documented: nobody may change the environment meanwhile
  const char* value = std::getenv(variable);
  if (value != nullptr && *value != '\0') path = value;
}

}  // namespace

System System::from_environment() {
  System system;
  if (::getauxval(AT_SECURE) != 0) return system;
  override_from("WATTLE_SYSFS", system.sysfs);
  override_from("WATTLE_PROCFS", system.procfs);
  return system;
}

}  // namespace wattle
