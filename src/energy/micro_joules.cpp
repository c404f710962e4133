#include "energy/micro_joules.hpp"

#include <cmath>
#include <limits>

#include "base/text/python_repr.hpp"
#include "base/text/quantity.hpp"

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

}  // namespace wattle
