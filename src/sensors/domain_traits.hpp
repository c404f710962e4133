// The traits of each kind of domain: one table, used by all code that treats kinds differently.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "wattle/domain.hpp"
#include "wattle/units.hpp"

namespace wattle {

struct DomainTraits {
  DomainKind kind;
  /// The start of the names of its domains.
  std::string_view name;
  DomainCategory category;
  /// The name of the kind's device in JSON, before its number.
  std::string_view device;
  /// Which part of a total its domains are: one of `kKindsInTotal`. Empty for those that overlap
  /// others.
  std::string_view in_total;
  /// Its domains lie inside of the domain of this kind with the same number.
  std::optional<DomainKind> parent;
  /// Above this no device of the kind can draw power: a difference that says so is no energy.
  ///
  /// Where the hardware states limits, twice the largest of them is used instead (short excursions
  /// above a limit are normal, twice the limit is not). The defaults leave a factor of about four
  /// to the largest parts sold by 2025: 500 W server packages (Xeon 6900, EPYC 9005 data sheets),
  /// 16 DDR5 modules of about 10 W a socket, two power supplies of 2.4 kW a board. GPU boards: up
  /// to 1.4 kW (B300 class, MI355X), Intel's Data Center GPU Max 600 W. A custom domain can be the
  /// feed of a whole rack.
  Watts max_power;
  /// Below this no device of the kind stays while the machine runs: a counter that shows less is
  /// stuck. An idle package draws more than 0.1 W even in its deepest sleep (Intel's 6 W parts,
  /// data sheets), DRAM must be refreshed, an NVIDIA GPU whose driver is in use is powered. Cores
  /// are switched off while they sleep, but every timer wakes them. Of AMD's and Intel's GPUs the
  /// kernel may switch off the whole board between two reads, and an integrated GPU that nobody
  /// uses is off. 0: it may draw nothing.
  Watts least_power;
  std::string_view vendor{};  ///< the maker of a GPU
  /// The driver counts all that a GPU did in a moment for the process that ran last
  /// (docs/sensors/nvml.md).
  bool samples_processes = false;
};

/// The parts of a total.
inline constexpr std::array<std::string_view, 3> kKindsInTotal = {"cpu", "dram", "gpu"};

namespace detail {

constexpr std::string_view kInCpu = kKindsInTotal[0];
constexpr std::string_view kInDram = kKindsInTotal[1];
constexpr std::string_view kInGpu = kKindsInTotal[2];

// clang-format off
/// In the order of `DomainKind`.
inline constexpr std::array<DomainTraits, 9> kDomainTraits = {{
    {DomainKind::package, "package", DomainCategory::cpu, "cpu", kInCpu, {}, Watts(2000.0), Watts(0.1)},
    {DomainKind::dram, "dram", DomainCategory::cpu, "cpu", kInDram, {}, Watts(500.0), Watts(0.1)},
    {DomainKind::core, "core", DomainCategory::cpu, "cpu", {}, DomainKind::package, Watts(2000.0), Watts(0.001)},
    {DomainKind::uncore, "uncore", DomainCategory::cpu, "cpu", {}, DomainKind::package, Watts(2000.0), Watts(0.0)},
    {DomainKind::nvidia_gpu, "nvidia_gpu", DomainCategory::gpu, "gpu", kInGpu, {}, Watts(5000.0), Watts(0.1), "nvidia", true},
    {DomainKind::amd_gpu, "amd_gpu", DomainCategory::gpu, "amd_gpu", kInGpu, {}, Watts(5000.0), Watts(0.001), "amd"},
    {DomainKind::intel_gpu, "intel_gpu", DomainCategory::gpu, "intel_gpu", kInGpu, {}, Watts(5000.0), Watts(0.001), "intel"},
    {DomainKind::psys, "psys", DomainCategory::platform, "platform", {}, {}, Watts(10000.0), Watts(0.1)},
    {DomainKind::custom, "custom", DomainCategory::other, {}, {}, {}, Watts(100'000.0), Watts(0.0)},
}};
// clang-format on

}  // namespace detail

[[nodiscard]] constexpr const std::array<DomainTraits, 9>& all_domain_traits() noexcept {
  return detail::kDomainTraits;
}
[[nodiscard]] constexpr const DomainTraits& traits_of(DomainKind kind) noexcept {
  return detail::kDomainTraits[static_cast<std::size_t>(kind)];
}
[[nodiscard]] inline const DomainTraits& traits_of(const Domain& domain) noexcept {
  return traits_of(domain.kind());
}

/// The domain that this one lies inside of, whatever the sensor.
[[nodiscard]] inline std::optional<Domain> parent_of(const Domain& domain) noexcept {
  const std::optional<DomainKind> parent = traits_of(domain).parent;
  return parent ? std::optional(domain.as(*parent)) : std::nullopt;
}

/// A set of kinds. Threads: a value type.
class DomainKinds {
 public:
  constexpr DomainKinds() noexcept = default;
  constexpr DomainKinds(std::initializer_list<DomainKind> kinds) noexcept {
    for (const DomainKind kind : kinds) bits_ |= bit(kind);
  }
  /// All kinds of some categories.
  [[nodiscard]] static constexpr DomainKinds of(
      std::initializer_list<DomainCategory> categories) noexcept {
    DomainKinds kinds;
    for (const DomainTraits& traits : all_domain_traits()) {
      if (std::ranges::find(categories, traits.category) != categories.end()) {
        kinds.bits_ |= bit(traits.kind);
      }
    }
    return kinds;
  }
  [[nodiscard]] static constexpr DomainKinds all() noexcept {
    return of({DomainCategory::cpu, DomainCategory::gpu, DomainCategory::platform,
               DomainCategory::other});
  }

  constexpr void add(DomainKinds others) noexcept { bits_ |= others.bits_; }
  constexpr void remove(DomainKinds others) noexcept { bits_ &= ~others.bits_; }
  [[nodiscard]] constexpr bool contains(DomainKind kind) const noexcept {
    return (bits_ & bit(kind)) != 0;
  }
  [[nodiscard]] constexpr bool overlaps(DomainKinds others) const noexcept {
    return (bits_ & others.bits_) != 0;
  }
  [[nodiscard]] constexpr bool has(DomainCategory category) const noexcept {
    return overlaps(of({category}));
  }

 private:
  static constexpr unsigned bit(DomainKind kind) noexcept {
    return 1U << static_cast<unsigned>(kind);
  }
  unsigned bits_ = 0;
};

/// The kind of the domain that may be called so; absent for what is no name of a domain.
[[nodiscard]] std::optional<DomainKind> kind_of_name(std::string_view name) noexcept;

}  // namespace wattle
