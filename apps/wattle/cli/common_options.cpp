#include "cli/common_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/privileges.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

void add_roots(CLI::App& command, RawRoots& raw) {
  add_value(command, "--sysfs", raw.sysfs, "DIR", "Folder to read instead of /sys (WATTLE_SYSFS)");
  add_value(command, "--procfs", raw.procfs, "DIR",
            "Folder to read instead of /proc (WATTLE_PROCFS)");
  add_value(command, "--nvml-library", raw.nvml_library, "PATH",
            "Library to use instead of libnvidia-ml.so.1 (WATTLE_NVML_LIBRARY)");
}

System system_of(const RawRoots& raw) {
  const bool given = !raw.sysfs.empty() || !raw.procfs.empty() || !raw.nvml_library.empty();
  if (given && has_foreign_privileges()) {
    throw InvalidArgument(
        "--sysfs, --procfs and --nvml-library cannot be used with a wattle that has privileges of "
        "its own (setuid or file capabilities)");
  }
  System system = raw.system;
  if (!raw.sysfs.empty()) system.sysfs = raw.sysfs;
  if (!raw.procfs.empty()) system.procfs = raw.procfs;
  if (!raw.nvml_library.empty()) system.nvml_library = raw.nvml_library;
  return system;
}

CLI::Option* add_estimate(CLI::App& command, bool& estimate) {
  return command.add_flag(
      "--estimate", estimate,
      "If no sensor covers the CPU, print a range of the energy at the wall, from published "
      "results of similar servers; not measured. WATTLE_ESTIMATE_AS=server or =guest says what "
      "this machine is, if its files do not");
}

}  // namespace wattle::app
