#include "watch/power_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kPowerFooter = R"(
Prints a line per period until Ctrl-C, then the totals; on a terminal, a table that is redrawn in
place. A power is the mean since the line before; an energy is counted from the start. An unknown
value is "-", null, or an empty cell; ">=": a part is unknown. Lines are skipped if the reader of
stdout does not keep up. With --estimate a machine without sensors has a range. Exit status: 0 after
Ctrl-C, 2 if nothing can be measured, 64 for a wrong option, 125 if stdout cannot be written.
)";

/// The options as they are written.
struct RawPower {
  PowerOptions power;
  ParsedOptions values;
  RawRoots roots;
  std::string domain;
  bool json = false;
  bool csv = false;

  void add(CLI::App& command);
  [[nodiscard]] PowerOptions checked(const CommandLine& line) const;
};

struct RawEnergy : RawPower {
  RawEnergy() { power.shows = PowerShows::energy; }
};

void RawPower::add(CLI::App& command) {
  command.footer(kPowerFooter);
  add_value(command, "--gpus", power.gpus, "LIST", kGpusHelp);
  CLI::Option* domain_option =
      add_value(command, "--domain", domain, "DOMAIN",
                "Show this alone: device_instant, device_average, memory_average, "
                "module_instant or module_average of GPUs, "
                "package or dram of CPUs");
  add_estimate(command, power.estimate)->excludes(domain_option);
  values.add(command, "--period", power.period, "SECONDS", "Seconds between two lines",
             parse_interval, "1");
  CLI::Option* json_option = command.add_flag("--json", json, "JSON lines");
  command.add_flag("--csv", csv, "CSV, one row per device and line; totals on stderr")
      ->excludes(json_option);
  add_roots(command, roots);
}

void choose_domain(const std::string& name, PowerOptions& options) {
  if (name.empty()) return;
  if (name == "package") {
    options.cpu_domain = DomainKind::package;
  } else if (name == "dram") {
    options.cpu_domain = DomainKind::dram;
  } else {
    try {
      options.gpu_domain = parse_power_domain(name);
    } catch (const InvalidArgument&) {
      throw InvalidArgument(
          fmt::format("--domain takes device_instant, device_average, memory_average, "
                      "module_instant, module_average, package or dram, not '{}'",
                      printable(name)));
    }
  }
}

PowerOptions RawPower::checked(const CommandLine& /*line*/) const {
  PowerOptions options = power;
  options.system = system_of(roots);
  if (json) options.format = PowerFormat::json;
  if (csv) options.format = PowerFormat::csv;
  choose_domain(domain, options);
  return options;
}

}  // namespace

extern constinit const Subcommand kPowerSubcommand = {
    .name = "power",
    .group = HelpGroup::watch,
    .summary = "Print the power of CPUs and GPUs until Ctrl-C",
    .add = add_options<RawPower>,
    .run = execute_with<PowerOptions>,
    .opens_counters = always};

extern constinit const Subcommand kEnergySubcommand = {
    .name = "energy",
    .group = HelpGroup::watch,
    .summary = "Print the energy of CPUs and GPUs until Ctrl-C",
    .add = add_options<RawEnergy>,
    .run = execute_with<PowerOptions>,
    .opens_counters = always};

}  // namespace wattle::app
