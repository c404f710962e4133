#include "bench/bench_conditions.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "base/unix_address.hpp"

namespace wattle::app {
namespace {

/// Events that the kernel counted, of all CPUs; 0 where it counts none.
std::uint64_t throttle_events(const System& system) {
  std::uint64_t events = 0;
  const std::string cpus = (system.sysfs / "devices/system/cpu").string();
  for (const std::string& name : list_folder(cpus).names) {
    if (!name.starts_with("cpu")) continue;
    for (const char* const counter : {"core_throttle_count", "package_throttle_count"}) {
      const auto text = read_line(fmt::format("{}/{}/thermal_throttle/{}", cpus, name, counter));
      if (text) events += parse_counter(*text).value_or(0);
    }
  }
  return events;
}

}  // namespace

BenchConditions::BenchConditions(const System& system)
    : system_(system),
      governor_(
          read_line((system.sysfs / "devices/system/cpu/cpu0/cpufreq/scaling_governor").string())
              .value_or("")),
      throttled_before_(throttle_events(system)),
      place_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  // An abstract name, not a file: it is free again after any end of the process.
  const auto name = UnixAddress::of({"\0wattle-bench", 13});
  is_alone_ =
      !place_ || ::bind(place_.get(), name->get(), name->size()) == 0 || errno != EADDRINUSE;
}

std::vector<std::string> BenchConditions::warnings() const {
  std::vector<std::string> warnings;
  if (!is_alone_) {
    warnings.emplace_back(
        "another wattle bench ran at the start: each measures the other; run one at a time");
  }
  if (!governor_.empty() && governor_ != "performance") {
    warnings.push_back(
        fmt::format("the CPU frequency governor is {}: the frequency depends on the "
                    "load; the governor performance gives steadier figures",
                    printable(governor_)));
  }
  if (throttle_events(system_) > throttled_before_) {
    warnings.emplace_back(
        "CPUs were throttled because they were too hot: use --pause, or better cooling");
  }
  return warnings;
}

}  // namespace wattle::app
