#include "cli/shared_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <optional>

#include "base/clock.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/privileges.hpp"
#include "cli/value_option.hpp"
#include "output/output.hpp"
#include "sensors/providers.hpp"
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

std::chrono::nanoseconds parse_seconds(const std::string& text, std::string_view option,
                                       double least, double most) {
  const auto seconds = parse_double(text);
  if (!seconds || *seconds < least || *seconds > most) {
    throw InvalidArgument(fmt::format("{} takes a number of seconds from {} to {}, not '{}'",
                                      option, least, most, printable(text)));
  }
  return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
}

std::chrono::nanoseconds parse_interval(const std::string& text, std::string_view option) {
  constexpr double kShortestS = 0.001;
  constexpr double kLongestS = 3600.0;
  return parse_seconds(text, option, kShortestS, kLongestS);
}

GpuSelection parse_gpus(const std::string& text) try {
  return GpuSelection::parse(text);
} catch (const InvalidArgument& error) {
  throw InvalidArgument(std::string(kGpuChoice) + ": " + error.what());
}

Survey survey_gpus(const System& system, DomainKinds kinds, const GpuSelection& gpus) try {
  Survey found =
      survey_chosen(system, machine_clock(), {.kinds = kinds, .gpus = gpus, .who = kGpuChoice});
  const auto leave_out = [&](SensorRefusal refusal) {
    refusal.source = kGpuChoice;
    refusal.reason = std::string("left out by ") + kGpuChoice;
    found.refused.push_back(std::move(refusal));
  };
  for (const Domain& gpu : found.left_out) {
    leave_out({.source = {}, .subject = gpu.name(), .domain = gpu, .shows = {gpu.kind()}});
  }
  if (gpus.is_none()) {
    leave_out({.source = {},
               .subject = "GPUs",
               .scope = RefusalScope::interface,
               .shows = DomainKinds::of({DomainCategory::gpu})});
  }
  return found;
} catch (const NoSuchDevice& error) {
  throw InvalidArgument(error.what());  // what was typed is wrong
}

void add_html(CLI::App& app, std::string& path) {
  add_value(app, "--html", path, "FILE",
            "Write the result as a page for a browser to FILE (-: stdout)");
}

void check_page_path(const std::string& path, bool is_json) {
  if (is_json && is_stdout(path)) {
    throw InvalidArgument("--json and --html - both write to stdout: give --html a file");
  }
}

void write_result(const std::string& text, const std::string& page_path,
                  const std::function<std::string()>& page) {
  std::optional<Output> file;
  if (!page_path.empty()) file = Output::open(page_path, false);
  if (!is_stdout(page_path)) Output::open("-", false).write(text);
  if (file) file->write(page());
}

}  // namespace wattle::app
