#include "sensors/powercap/zone.hpp"

#include <algorithm>
#include <cmath>

#include "base/parse.hpp"
#include "base/split.hpp"

namespace wattle::powercap {
namespace {

constexpr std::uint64_t kCounterMask = 0xFFFFFFFFU;  // all x86 RAPL counters have 32 bits

/// A control type's name as kernels give it. Anything else, which another tree than the kernel's
/// may hold, is not for a terminal.
bool is_identifier(std::string_view text) noexcept {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// The range a kernel states for a 32-bit counter whose tick is numerator/denominator uJ.
constexpr std::uint64_t stated_range(std::uint64_t numerator, std::uint64_t denominator) noexcept {
  return kCounterMask * numerator / denominator;
}

TickScale scale_of(double tick_j, std::uint64_t numerator, std::uint64_t denominator) noexcept {
  return {.tick = Joules(tick_j),
          .modulus = kCounterMask + 1,
          .numerator = numerator,
          .denominator = denominator};
}

}  // namespace

std::optional<ZoneId> parse_zone_id(std::string_view directory) noexcept {
  const bool has_sub = std::ranges::count(directory, ':') > 1;
  const std::string_view control = take_until(directory, ':');
  const auto zone = parse_unsigned<std::uint32_t>(take_until(directory, ':'));
  const auto sub = parse_unsigned<std::uint32_t>(directory);
  if (!is_identifier(control) || !zone || has_sub != sub.has_value()) return std::nullopt;
  return ZoneId{.control = control, .zone = *zone, .sub = sub};
}

std::optional<Domain> parse_top_zone_name(std::string_view name) noexcept {
  if (name == "psys") return Domain::psys();
  if (take_prefix(name, "psys-")) {
    const auto index = parse_unsigned<std::uint32_t>(name);
    if (!index) return std::nullopt;
    return Domain::psys(*index);
  }
  if (!take_prefix(name, "package-")) return std::nullopt;
  const std::size_t dash = name.find('-');
  const auto socket = parse_unsigned<std::uint32_t>(name.substr(0, dash));
  if (!socket) return std::nullopt;
  if (dash == std::string_view::npos) return Domain::package(*socket);
  name.remove_prefix(dash);
  if (!take_prefix(name, "-die-")) return std::nullopt;
  const auto die = parse_unsigned<std::uint32_t>(name);
  if (!die) return std::nullopt;
  return Domain::package(*socket).on_die(*die);
}

std::optional<DomainKind> parse_sub_zone_name(std::string_view name) noexcept {
  if (name == "core") return DomainKind::core;
  if (name == "uncore") return DomainKind::uncore;
  if (name == "dram") return DomainKind::dram;
  return std::nullopt;
}

TickScale identify_scale(std::optional<std::uint64_t> max_energy_range_uj) noexcept {
  if (!max_energy_range_uj || *max_energy_range_uj == 0) return {.tick = Joules(1e-6)};
  const std::uint64_t range = *max_energy_range_uj;

  // Server DRAM: the kernel multiplies by 15.3 uJ, the hardware counts 2^-16 J (15.2588 uJ).
  // Both from intel_rapl_common.c; the perf driver of the same kernel uses the exact unit.
  constexpr std::uint64_t kServerDramNj = 15300;
  if (range == stated_range(kServerDramNj, 1000)) {
    return scale_of(std::ldexp(1.0, -16), kServerDramNj, 1000);
  }
  // A unit of 2^-n J, multiplied by the kernel as whole nano-joules, or exactly by older ones.
  // Below 2^-19 J a tick would be less than 2 uJ: no hardware counts so finely.
  for (std::uint64_t n = 0; n < 20; ++n) {
    const double tick_j = std::ldexp(1.0, -static_cast<int>(n));
    const std::uint64_t nanojoules = 1'000'000'000 >> n;
    if (range == stated_range(nanojoules, 1000)) return scale_of(tick_j, nanojoules, 1000);
    const std::uint64_t divisor = std::uint64_t{1} << n;
    if (range == stated_range(1'000'000, divisor)) return scale_of(tick_j, 1'000'000, divisor);
  }
  // Some Atoms count in 2^n uJ.
  for (std::uint64_t n = 0; n < 16; ++n) {
    const std::uint64_t microjoules = std::uint64_t{1} << n;
    if (range == stated_range(microjoules, 1)) {
      return scale_of(static_cast<double>(microjoules) * 1e-6, microjoules, 1);
    }
  }
  const bool can_wrap = range < UINT64_MAX;
  return {.tick = Joules(1e-6), .modulus = can_wrap ? range + 1 : 0};
}

}  // namespace wattle::powercap
