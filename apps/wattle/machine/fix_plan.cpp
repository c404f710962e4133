#include "machine/fix_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text/text.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::app {
namespace {

constexpr std::string_view kNvidia = "0x10de";
constexpr std::string_view kAmd = "0x1002";
constexpr std::string_view kIntel = "0x8086";

std::string rapl_risk(std::string_view who) {
  return fmt::format("{} can read CPU energy: {}.", who, kRaplRisk);
}

void load_rapl(Fix& fix) {
  fix.steps.push_back(
      {.command = {"modprobe", "intel_rapl_msr"},
       .purpose = "Loads the kernel module that reads the energy counters (AMD too).",
       .risk = "None is known: it shows the counters to root only."});
  fix.steps.push_back(
      {.command = {"sh", "-c", "echo intel_rapl_msr >/etc/modules-load.d/wattle.conf"},
       .purpose = "Loads it at every boot.",
       .risk = "It replaces this file if it exists."});
}

/// True if no right and no module helps: there is nothing to read.
bool lacks_counters(const FixFacts& facts) {
  return facts.is_virtual && !facts.has_event && !facts.has_zones;
}
std::string obstacle_of_virtual_machine() {
  return fmt::format("{}; measure on the host", kNoRaplInVirtualMachine);
}

/// Alternatives to the commands of `plan_cpu`, the safest first.
std::vector<std::string> other_ways(const FixFacts& facts, bool counts_events) {
  std::vector<std::string> ways;
  ways.push_back(fmt::format(
      "the daemon, which reads the counters for its group: {}wattle doctor --fix daemon",
      facts.has_unit ? "" : "install the package wattled, then "));
  ways.emplace_back("run wattle as root");
  if (facts.has_event && !facts.has_perfmon) {
    ways.push_back(
        fmt::format("setcap cap_sys_admin+ep {}: nearly root, but this Linux has no less for perf",
                    shell_quoted(facts.program)));
  }
  ways.emplace_back(
      counts_events
          ? "until the next boot, for every user, who can then profile the kernel and other users' "
            "processes too: sysctl kernel.perf_event_paranoid=0"
          : "until the next boot, for a group: chgrp GROUP /sys/class/powercap/*/energy_uj; "
            "chmod g+r /sys/class/powercap/*/energy_uj");
  return ways;
}

Fix plan_cpu(const FixFacts& facts) {
  if (lacks_counters(facts)) return {.obstacle = obstacle_of_virtual_machine()};
  Fix fix;
  if (!facts.has_event && !facts.has_zones) load_rapl(fix);
  const bool counts_events = facts.has_event && facts.has_perfmon;
  const char* capability = counts_events ? "cap_perfmon+ep" : "cap_dac_read_search+ep";
  std::string purpose =
      counts_events ? "Lets wattle count energy for every user, until its next update."
                    : "Lets wattle open the energy counters for every user, until its next update.";
  fix.steps.push_back({.command = {"setcap", capability, facts.program},
                       .purpose = std::move(purpose),
                       .risk = rapl_risk("Every user who may run wattle")});
  fix.others = other_ways(facts, counts_events);
  return fix;
}

/// The kernel module that drives GPUs of this vendor; empty: none that Wattle reads.
std::string_view module_of(std::string_view vendor) {
  if (vendor == kNvidia) return "nvidia";
  if (vendor == kAmd) return "amdgpu";
  if (vendor == kIntel) return "i915";
  return {};
}

bool is_loaded_by(const Fix& fix, std::string_view module) {
  return std::ranges::any_of(fix.steps,
                             [&](const FixStep& step) { return step.command.back() == module; });
}

/// Why this GPU is not helped by a command; empty if nothing hinders.
std::string obstacle_of(const PciGpu& gpu) {
  if (gpu.driver == "vfio-pci") {
    return fmt::format("the GPU {} is reserved for virtual machines (driver vfio-pci)",
                       gpu.address);
  }
  if (gpu.driver == "nouveau") {
    return fmt::format(
        "the GPU {} has the driver nouveau, which shows no power; install NVIDIA's own driver",
        gpu.address);
  }
  return {};
}

Fix plan_gpu(const FixFacts& facts) {
  if (facts.gpus.empty()) return {.obstacle = "there is no GPU on the PCI bus of this machine"};
  Fix fix;
  for (const PciGpu& gpu : facts.gpus) {
    const std::string_view module = module_of(gpu.vendor);
    if (fix.obstacle.empty()) fix.obstacle = obstacle_of(gpu);
    if (!gpu.driver.empty() || module.empty() || is_loaded_by(fix, module)) continue;
    fix.steps.push_back(
        {.command = {"modprobe", std::string(module)},
         .purpose = fmt::format("Loads the driver of the GPU {}, which has none.", gpu.address),
         .risk = "The driver takes over the GPU: its screen may turn dark for a moment."});
  }
  const bool has_nvidia =
      std::ranges::any_of(facts.gpus, [](const PciGpu& gpu) { return gpu.driver == "nvidia"; });
  if (has_nvidia && !facts.has_nvml) {
    fix.steps.push_back(
        {.command = {"apt-get", "install", "libnvidia-ml1"},
         .purpose = "Installs the library by which NVIDIA's driver is read.",
         .risk = "Its version must be that of the loaded driver; apt-get asks before it replaces "
                 "packages of the driver."});
  }
  if (!fix.steps.empty()) {
    fix.obstacle.clear();
  } else if (fix.obstacle.empty()) {
    fix.obstacle = "the driver of every GPU is loaded; wattle doctor lists what it does not show";
  }
  return fix;
}

Fix plan_daemon(const FixFacts& facts) {
  if (lacks_counters(facts)) return {.obstacle = obstacle_of_virtual_machine()};
  if (!facts.has_unit) {
    return {.obstacle = "the daemon's units are not installed: install the package wattled"};
  }
  Fix fix;
  if (!facts.has_user) {
    fix.steps.push_back({.command = {"systemd-sysusers", "wattled.conf"},
                         .purpose = "Makes the user wattled and the group wattle.",
                         .risk = "None is known: nobody can log in as this user."});
  }
  fix.steps.push_back(
      {.command = {"systemctl", "enable", "--now", "wattled.socket", "wattled.service"},
       .purpose = "Starts the daemon, now and at every boot.",
       .risk = rapl_risk("Every member of the group wattle")});
  if (!facts.user.empty()) {
    fix.steps.push_back({.command = {"usermod", "--append", "--groups", "wattle", facts.user},
                         .purpose = fmt::format("Lets {} ask the daemon, from the next login on.",
                                                printable(facts.user)),
                         .risk = rapl_risk(printable(facts.user))});
  }
  return fix;
}

}  // namespace

Fix plan_fix(FixTarget target, const FixFacts& facts) {
  switch (target) {
    case FixTarget::cpu:
      return plan_cpu(facts);
    case FixTarget::gpu:
      return plan_gpu(facts);
    case FixTarget::daemon:
      break;
  }
  return plan_daemon(facts);
}

std::string command_line(const FixStep& step) { return shell_line(step.command); }

std::string script_of(const Fix& fix) {
  std::string script = "set -e\n";
  if (!fix.others.empty()) script += "\n# Other ways, the safest first:\n";
  for (const std::string& way : fix.others) script += fmt::format("# - {}\n", way);
  for (const FixStep& step : fix.steps) {
    script += fmt::format("\n# {}\n# Risk: {}\n{}\n", step.purpose, step.risk, command_line(step));
  }
  return script;
}

}  // namespace wattle::app
