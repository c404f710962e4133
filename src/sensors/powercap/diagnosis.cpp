#include "sensors/powercap/diagnosis.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "base/text/unknown.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/machine_extent.hpp"

namespace wattle::powercap {
namespace {

constexpr std::string_view kSubject = "CPU energy";

/// A refusal of all of powercap, unless a domain is named.
SensorRefusal refusal(std::string subject, std::string reason, std::string proof,
                      std::string remedy, std::string_view risk = {}) {
  return {.subject = std::move(subject),
          .reason = std::move(reason),
          .proof = std::move(proof),
          .remedy = std::move(remedy),
          .risk = std::string(risk),
          .scope = RefusalScope::interface};
}

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? static_cast<const char*>(name.release) : std::string(kUnknown);
}

/// The mounted path that hides powercap's zones from this container; empty where none does.
std::string masking_mount(const System& system) {
  const auto mountinfo = read_file((system.procfs / "self" / "mountinfo").string());
  if (!mountinfo) return {};
  for (const char* hidden : {"devices/virtual/powercap", "class/powercap"}) {
    std::string path = (system.sysfs / hidden).string();
    if (is_mount_point(*mountinfo, path)) return path;
  }
  return {};
}

SensorRefusal masked(std::string proof) {
  return refusal(std::string(kSubject), "this container hides the energy counters",
                 std::move(proof), std::string(kContainerRemedy), kRaplRisk);
}

}  // namespace

bool is_mount_point(std::string_view mountinfo, std::string_view path) noexcept {
  while (!mountinfo.empty()) {
    std::string_view line = take_line(mountinfo);
    for (int field = 0; field < 4; ++field) take_word(line);  // ids, device, root
    if (take_word(line) == path) return true;
  }
  return false;
}

bool is_loaded(std::string_view modules, std::string_view name) noexcept {
  while (!modules.empty()) {
    std::string_view line = take_line(modules);
    if (take_word(line) == name) return true;
  }
  return false;
}

SensorRefusal no_zones(const System& system, const CpuInfo& cpu, bool dangling) {
  const std::string subject(kSubject);
  const std::string zones = (system.sysfs / "class" / "powercap").string();
  std::error_code ignored;
  const bool has_class = std::filesystem::is_directory(zones, ignored);
  if (!has_class && !std::filesystem::is_directory(system.sysfs, ignored)) {
    return refusal(subject, fmt::format("there is no folder {}", system.sysfs.string()), {},
                   "mount sysfs there, or name another folder with --sysfs or WATTLE_SYSFS");
  }
  const std::string mount = has_class ? masking_mount(system) : "";
  if (!mount.empty()) {
    return masked(fmt::format("a file system is mounted over {}", mount));
  }
  if (dangling) return masked(fmt::format("the links in {} lead nowhere", zones));
  const std::string proof = fmt::format("{} holds no zones", zones);
  if (cpu.error != 0) {
    return refusal(subject, "the kernel shows no energy counters, and the processor is unknown",
                   fmt::format("{}; {}", proof, cpu_info_proof(system, cpu)), {});
  }
  if (const auto guest = proof_of_guest(system, cpu)) {
    return refusal(subject, std::string(kNoRaplInVirtualMachine), proof + "; " + *guest,
                   "measure on the host, or on a machine of your own");
  }
  if (!cpu.is_amd() && !cpu.is_intel()) {
    return refusal(subject, "this processor has no energy counters that powercap reads",
                   proof + "; they exist on Intel and AMD processors", {});
  }
  const auto modules = read_file((system.procfs / "modules").string());
  if (modules && is_loaded(*modules, "intel_rapl_msr")) {
    return refusal(subject, "the kernel finds no energy counters in this processor",
                   proof + "; the module intel_rapl_msr is loaded",
                   "see the kernel's log: dmesg | grep -i rapl");
  }
  return refusal(subject, "the kernel module that reads the energy counters is not loaded",
                 proof + "; the module intel_rapl_msr is not in /proc/modules",
                 "sudo modprobe intel_rapl_msr (AMD too; at every boot: "
                 "echo intel_rapl_msr | sudo tee /etc/modules-load.d/wattle.conf)");
}

SensorRefusal not_listed(const std::string& folder, int error, std::vector<DomainKind> hidden) {
  const std::string cause = std::generic_category().message(error);
  SensorRefusal refused =
      refusal(std::string(kSubject), fmt::format("cannot list the energy counters: {}", cause),
              folder, error == EMFILE ? "ulimit -n 1024" : "");
  if (!hidden.empty()) refused.scope = RefusalScope::part;
  refused.hidden.kinds = std::move(hidden);
  return refused;
}

SensorRefusal unreadable(const Domain& domain, const std::string& path, int error,
                         const System& system) {
  const std::string cause = std::generic_category().message(error);
  SensorRefusal refused =
      refusal(domain.name(), fmt::format("its counter cannot be read: {}", cause), path, {});
  refused.domain = domain;
  refused.scope = RefusalScope::part;
  if (error != EACCES && error != EPERM) return refused;

  struct stat status {};
  const std::string mode =
      ::stat(path.c_str(), &status) == 0
          ? fmt::format("mode {:04o}, owner {}", status.st_mode & 07777U, status.st_uid)
          : cause;
  refused.reason = "energy_uj is readable by root only";
  refused.denied_path = path;
  // Without the name of the zone: domains with one cause share a line.
  refused.proof =
      fmt::format("{}: {}; Linux {} (since 5.10 the kernel keeps energy counters from users)",
                  (system.sysfs / "class/powercap/*/energy_uj").string(), mode, kernel_release());
  refused.remedy = kRaplRemedy;
  refused.risk = kRaplRisk;
  return refused;
}

}  // namespace wattle::powercap
