// Touches every public header of Wattle; exits with 0 if all is as documented.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>
#include <wattle/wattle.hpp>

namespace {

bool check(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "does not hold: %s\n", what);
  return holds;
}

bool check_domains() {
  wattle::System nowhere;
  nowhere.sysfs = "/nonexistent";
  nowhere.nvml_library = "/nonexistent/libnvidia-ml.so.1";
  const std::unordered_set<wattle::Domain> domains = {wattle::Domain::package(0),
                                                      wattle::Domain::dram(1).on_die(2)};
  return check(wattle::Domain::package(0).name() == "package_0", "a domain has its usual name") &&
         check(domains.contains(wattle::Domain::dram(1).on_die(2)), "a domain can be a key") &&
         check(wattle::available_domains(nowhere).empty(), "without sysfs there is no domain") &&
         check(wattle::available_domains(wattle::DomainKind::dram, nowhere).empty(),
               "without sysfs there is no domain of a kind");
}

bool check_units() {
  using namespace std::chrono_literals;
  const wattle::Joules energy = wattle::Watts(50.0) * wattle::Seconds(2s);
  return check(energy == wattle::Joules(100.0), "50 W over 2 s are 100 J") &&
         check(energy / wattle::Seconds(4s) == wattle::Watts(25.0), "100 J over 4 s are 25 W");
}

bool check_clock() {
  const wattle::TimePoint now = std::chrono::steady_clock::now();
  const wattle::Seconds error = wattle::from_unix(wattle::to_unix(now)) - now;
  return check(std::abs(error.count()) < 1e-3, "from_unix is the inverse of to_unix");
}

bool check_errors() {
  try {
    throw wattle::PermissionDenied("/sys/class/powercap", "run as root");
  } catch (const wattle::Error& error) {
    return check(std::string_view(error.what()).find("run as root") != std::string_view::npos,
                 "an error says what to do");
  }
}

bool check_traces() {
  const auto names = std::make_shared<const std::vector<std::string>>(1, "package_0");
  wattle::EnergyTrace trace;
  trace.append({wattle::from_unix(1669000000.5),
                "a",
                wattle::Seconds(2.0),
                names,
                {{.energy = wattle::Joules(0.5)}}});
  std::ostringstream out;
  wattle::PrintHandler(out).process(trace);
  return check(out.str() ==
                   "begin timestamp : 1669000000.5; tag : a; duration : 2.0; "
                   "package_0 : 500000.0\n",
               "a sample is printed as pyJoules prints it") &&
         check(wattle::to_table(trace).rows() == 1, "a trace becomes a table");
}

}  // namespace

int main() {
  std::printf("wattle %.*s\n", static_cast<int>(wattle::version().size()),
              wattle::version().data());
  const bool holds =
      check_domains() && check_units() && check_clock() && check_errors() && check_traces();
  return holds ? 0 : 1;
}
