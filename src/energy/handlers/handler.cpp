#include "energy/handlers/handler.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/text/python_repr.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

constexpr double kSmallestStepsPerJoule = 1e9;
constexpr double kSmallestStepsPerMicroJoule = 1e3;

/// The nearest integer that fits.
std::int64_t to_integer(double value) noexcept {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (value >= kEnd) return std::numeric_limits<std::int64_t>::max();
  if (value < -kEnd) return std::numeric_limits<std::int64_t>::min();
  return std::llround(value);
}

struct AppendNumber {
  std::string& out;
  std::string_view unknown;
  void operator()(std::monostate) const { out += unknown; }
  void operator()(double value) const { append_python_repr(out, value); }
  void operator()(std::int64_t value) const { append_python_repr(out, value); }
};

}  // namespace

EnergyHandler::~EnergyHandler() = default;

void log_unsaved(std::size_t count, std::string_view what, std::string_view destination) noexcept {
  try {
    log(std::to_string(count) + " " + std::string(what) + " for " + printable(destination) +
        " are lost: call save_data before the handler is destroyed");
  } catch (const std::exception&) {
    // Out of memory, in a destructor.
  }
}

MicroJoules micro_joules(std::string_view domain, const MeasuredEnergy& measured) noexcept {
  if (!measured.energy) return {};
  const double steps = std::round(measured.energy->si() * kSmallestStepsPerJoule);
  if (!std::isfinite(steps)) return {};
  // + 0.0: never "-0.0".
  const double micro_joules = steps / kSmallestStepsPerMicroJoule + 0.0;
  if (domain.starts_with("nvidia_gpu_")) return to_integer(micro_joules);
  return micro_joules;
}

MicroJoules micro_joules(const EnergySample& sample, std::size_t index, SampleDetails details) {
  if (!details.details && !sample.is_complete(index)) return {};
  return micro_joules((*sample.domains())[index], sample.energies()[index]);
}

MicroJoules uncertainty_micro_joules(const MeasuredEnergy& measured) {
  if (!measured.energy) return {};
  return micro_joules("", {.energy = with_two_digits(measured.uncertainty)});
}

void append_micro_joules(std::string& out, const MicroJoules& value, std::string_view unknown) {
  std::visit(AppendNumber{out, unknown}, value);
}

void append_sample_details(std::string& out, const MeasuredEnergy& energy,
                           std::string_view between) {
  append_micro_joules(out, uncertainty_micro_joules(energy), "");
  out += between;
  append_python_repr(out, energy.unknown.count());
  out += between;
  bool is_first = true;
  energy.flags.each([&](std::string_view name) {
    if (!is_first) out += ' ';
    out += name;
    is_first = false;
  });
}

void warn_of_lower_bounds(const EnergyTrace& trace, std::string_view destination) {
  std::size_t count = 0;
  std::vector<std::string> domains;
  for (const EnergySample& sample : trace) {
    for (std::size_t i = 0; i < sample.energies().size(); ++i) {
      if (!sample.energies()[i].energy || sample.is_complete(i)) continue;
      ++count;
      const std::string& domain = (*sample.domains())[i];
      if (std::ranges::find(domains, domain) == domains.end()) domains.push_back(domain);
    }
  }
  if (count == 0) return;
  const std::string names =
      joined(domains, ", ", [](const std::string& domain) { return printable(domain); });
  log(std::to_string(count) + (count == 1 ? " energy for " : " energies for ") +
      printable(destination) +
      (count == 1 ? " is a lower bound and was" : " are lower bounds and were") + " left out (" +
      names + "); with SampleDetails{.details = true} they are written");
}

}  // namespace wattle
