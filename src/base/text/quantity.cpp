#include "base/text/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

namespace wattle {
namespace {

struct Scale {
  double factor;
  std::string_view prefix;
};

constexpr std::array kLarge = {Scale{1e12, "T"}, Scale{1e9, "G"}, Scale{1e6, "M"}, Scale{1e3, "k"}};
constexpr double kKeepUnitUpTo = 10.0;  // 9999 J rather than 9.999 kJ

/// The prefix for a quantity of this size: 12.3 kJ, 9999 J, 50 mJ, 61 µJ.
Scale scale_for(double value) {
  const double size = std::abs(value);
  for (const Scale& scale : kLarge) {
    if (size >= scale.factor * kKeepUnitUpTo) return scale;
  }
  if (size >= 1.0 || size == 0.0) return {1.0, ""};
  return size >= 1e-3 ? Scale{1e-3, "m"} : Scale{1e-6, "µ"};
}

/// Decimals that show `digits` significant digits of `value`.
int decimals_for(double value, int digits) {
  constexpr int kMost = 6;
  if (value == 0.0 || !std::isfinite(value)) return 0;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::clamp(digits - 1 - magnitude, 0, kMost);
}

/// `value` without the digits below the place of the `digits`th digit of `error`: the number that
/// is nearest to what is left, so that it is printed with no more digits.
double without_unsupported(double value, double error, int digits) {
  if (!(error > 0.0) || !std::isfinite(error)) return value;
  const double exponent = std::floor(std::log10(error)) - (digits - 1);
  const double size = std::pow(10.0, std::abs(exponent));  // exact, up to 10^22
  if (!std::isfinite(size)) return value;
  return exponent < 0.0 ? std::round(value * size) / size : std::round(value / size) * size;
}

constexpr int kUncertaintyDigits = 2;

std::string rounded_with_unit(double value, double error, std::string_view unit) {
  const Scale scale = scale_for(value);
  const double scaled = without_unsupported(value, error, 1) / scale.factor;
  const int most = std::min(decimals_for(value / scale.factor, 4), 3);
  const int supported = error > 0.0 ? decimals_for(error / scale.factor, 1) : most;
  return fmt::format("{:.{}f} {}{}", scaled + 0.0, std::min(most, supported), scale.prefix, unit);
}

std::string with_uncertainty(double value, double uncertainty, std::string_view unit) {
  const Scale scale = scale_for(std::max(std::abs(value), uncertainty));
  const double shown =
      without_unsupported(value, uncertainty, kUncertaintyDigits) / scale.factor + 0.0;
  const double error =
      without_unsupported(uncertainty, uncertainty, kUncertaintyDigits) / scale.factor;
  const int decimals = error > 0.0 ? decimals_for(error, 2) : decimals_for(shown, 4);
  return fmt::format("{:.{}f} {}{} ±{:.{}f} {}{}", shown, decimals, scale.prefix, unit, error,
                     decimals, scale.prefix, unit);
}

std::string with_unit(double value, std::string_view unit) {
  const Scale scale = scale_for(value);
  const double scaled = value / scale.factor;
  return fmt::format("{:.{}f} {}{}", scaled, std::min(decimals_for(scaled, 4), 3), scale.prefix,
                     unit);
}

}  // namespace

Joules with_two_digits(Joules uncertainty) {
  return Joules(without_unsupported(uncertainty.si(), uncertainty.si(), kUncertaintyDigits));
}

std::string to_text(Joules energy) { return with_unit(energy.si(), "J"); }
std::string to_string(Joules energy) { return to_text(energy); }
std::string to_string(Watts power) { return to_text(power); }
std::ostream& operator<<(std::ostream& out, Joules energy) { return out << to_text(energy); }
std::ostream& operator<<(std::ostream& out, Watts power) { return out << to_text(power); }

std::string to_text(Joules energy, Joules uncertainty) {
  return with_uncertainty(energy.si(), uncertainty.si(), "J");
}

std::string to_text(Watts power, Watts uncertainty) {
  return with_uncertainty(power.si(), uncertainty.si(), "W");
}

std::string rounded_text(Watts power, Watts uncertainty) {
  return rounded_with_unit(power.si(), uncertainty.si(), "W");
}

std::string rounded_text(Joules energy, Joules uncertainty) {
  return rounded_with_unit(energy.si(), uncertainty.si(), "J");
}

double limit_that_adds_up(const Uncertain& sum, std::span<const Uncertain> parts) {
  double limit = 0.0;  // at the start no coarser than the parts
  double finest = 0.0;
  for (const Uncertain& part : parts) {
    limit = std::max(limit, part.uncertainty);
    const double tenth = part.uncertainty / 10.0;
    if (tenth > 0.0) finest = finest > 0.0 ? std::min(finest, tenth) : tenth;
  }
  for (; finest > 0.0 && limit > finest; limit /= 10.0) {
    double added = 0.0;
    for (const Uncertain& part : parts) {
      added += without_unsupported(part.value, std::min(part.uncertainty, limit), 1);
    }
    const double error = std::min(sum.uncertainty, limit);
    if (without_unsupported(added, error, 1) == without_unsupported(sum.value, error, 1)) {
      return limit;
    }
  }
  return finest;
}

std::string to_text(Watts power) { return with_unit(power.si(), "W"); }

std::string to_text(Seconds time) {
  constexpr double kMinute = 60.0;
  constexpr double kHour = 3600.0;
  const double s = time.count();
  if (s < 10 * kMinute) return fmt::format("{:.{}f} s", s, s < 10.0 ? 3 : 2);
  constexpr double kMost = 1e15;  // what is longer does not fit into a number
  const auto whole = std::llround(std::min(s, kMost));
  if (s < 2 * kHour) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string bytes_to_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  for (const Scale& scale : kLarge) {
    if (value < scale.factor) continue;
    return fmt::format("{:.{}f} {}B", value / scale.factor, decimals_for(value / scale.factor, 4),
                       scale.prefix);
  }
  return fmt::format("{} B", bytes);
}

}  // namespace wattle
