#include "sensors/perf/diagnosis.hpp"

#include <fmt/format.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::perf {
namespace {

std::string proc_line(const System& system, const char* file) {
  return printable(read_line((system.procfs / file).string()).value_or(std::string(kUnknown)));
}

/// The error when an event was opened.
struct OpenFailure {
  std::string proof;
  bool filtered;
};

OpenFailure describe_failure(int error, const System& system) {
  const std::string release = proc_line(system, "sys/kernel/osrelease");
  const auto status = read_file((system.procfs / "self" / "status").string());
  OpenFailure attempt{
      .proof = fmt::format("perf_event_open: {}; kernel.perf_event_paranoid is {}; "
                           "Linux {}",
                           std::generic_category().message(error),
                           proc_line(system, "sys/kernel/perf_event_paranoid"), release),
      .filtered = status && is_filtered(*status)};
  if (attempt.filtered) attempt.proof += "; /proc/self/status says Seccomp: 2";
  return attempt;
}

}  // namespace

bool knows_cap_perfmon(std::string_view release) noexcept {
  const auto take_number = [&release] {
    const std::size_t digits = std::min(release.find_first_not_of("0123456789"), release.size());
    const auto number = parse_unsigned<std::uint32_t>(release.substr(0, digits));
    release.remove_prefix(std::min(digits + 1, release.size()));
    return number;
  };
  constexpr auto kFirst = std::pair<std::uint32_t, std::uint32_t>(5, 8);
  const auto major = take_number();
  const auto minor = take_number();
  return !major || !minor || std::pair(*major, *minor) >= kFirst;
}

bool is_filtered(std::string_view status) noexcept {
  const auto mode = numbers_after<unsigned, 1>({"Seccomp:"}, status, UINT32_MAX);
  return mode && mode->front() == SECCOMP_MODE_FILTER;
}

SensorRefusal no_pmu(const std::string& folder) {
  return {.subject = "CPU energy",
          .reason = "this kernel shows no energy counters through perf",
          .proof = fmt::format("there is no folder {} (most virtual machines have none)", folder),
          .remedy = "on a machine of its own: sudo modprobe rapl (Intel and AMD)",
          .scope = RefusalScope::spare};
}

SensorRefusal virtual_platform(const std::string& events, const std::string& proof) {
  return {.subject = "CPU energy",
          .reason = std::string(kNoRaplInVirtualMachine),
          .proof = fmt::format("{} shows energy-psys alone; {}", events, proof),
          .scope = RefusalScope::spare};
}

SensorRefusal not_opened(const Domain& domain, int error, const System& system, bool as_root) {
  const OpenFailure attempt = describe_failure(error, system);
  SensorRefusal refused{.subject = domain.name(), .proof = attempt.proof, .domain = domain};
  const auto explain = [&refused](const char* reason, std::string_view remedy) {
    refused.reason = reason;
    refused.remedy = remedy;
    refused.risk = kRaplRisk;
  };
  const bool forbidden = error == EACCES || error == EPERM;
  // Filters answer with EPERM, or pretend that there is no such call.
  if (attempt.filtered && (error == EPERM || error == ENOSYS)) {
    explain("a system-call filter (seccomp) keeps perf_event_open from this process",
            kContainerRemedy);
  } else if (forbidden && as_root) {
    // The capability is required in the machine's own user namespace.
    explain("the root of this container may not count what the whole machine does",
            kContainerRemedy);
  } else if (forbidden) {
    explain("only privileged processes may count what the whole machine does", kRaplRemedy);
    refused.denied_path = (system.sysfs / "bus/event_source/devices/power").string();
  } else if (error == ENOSYS) {
    refused.reason = "this kernel was built without perf_event_open";
  } else if (error == EMFILE) {
    refused.reason = "this process has too many open files";
    refused.remedy = "ulimit -n 1024";
  } else {
    refused.reason = fmt::format("the kernel does not count this event: {}",
                                 std::generic_category().message(error));
  }
  return refused;
}

}  // namespace wattle::perf
