#include "usage/files/usage_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

struct UsageUnit {
  std::string_view name;
  double size;  ///< in bytes or seconds: quotients by it have no digits of their own
};

// In the order in which messages list them.
constexpr std::array kMemory = {UsageUnit{"bytes", 1.0}, UsageUnit{"gigabytes", 1e9},
                                UsageUnit{"kilobytes", 1e3}, UsageUnit{"megabytes", 1e6},
                                UsageUnit{"terabytes", 1e12}};
constexpr std::array kTime = {UsageUnit{"days", 86400.0}, UsageUnit{"hours", 3600.0},
                              UsageUnit{"minutes", 60.0}, UsageUnit{"seconds", 1.0}};

double size_of(std::span<const UsageUnit> units, std::string_view name, std::string_view what) {
  const auto found = std::ranges::find(units, name, &UsageUnit::name);
  if (found != units.end()) return found->size;
  throw InvalidArgument(fmt::format("\"{}\" is not a valid {} unit. Valid values are {}",
                                    printable(name), what, joined(units, ", ", &UsageUnit::name)));
}

}  // namespace

double bytes_in(std::string_view unit, std::string_view what) {
  return size_of(kMemory, unit, what);
}

double seconds_in(std::string_view unit) { return size_of(kTime, unit, "time"); }

ProcessingUnitPercentages percentages_of(std::optional<double> max_sum,
                                         std::optional<double> mean_sum,
                                         std::optional<unsigned> units) noexcept {
  ProcessingUnitPercentages percent;
  percent.max_sum_percent = max_sum;
  percent.mean_sum_percent = mean_sum;
  if (units.value_or(0) == 0) return percent;
  if (max_sum) percent.max_hardware_percent = *max_sum / *units;
  if (mean_sum) percent.mean_hardware_percent = *mean_sum / *units;
  return percent;
}

}  // namespace wattle
