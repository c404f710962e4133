// Domains that can be measured, by their usual names: package_0, dram_1, nvidia_gpu_0 ...
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/export.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// The kind of a domain. The order of the values is the order in which domains are listed.
enum class DomainKind : std::uint8_t {
  package,     ///< a CPU socket (or one die of it): cores, caches, memory controller
  dram,        ///< the memory attached to a socket
  core,        ///< the cores of a socket; lies inside its package
  uncore,      ///< in practice the integrated GPU; lies inside its package
  nvidia_gpu,  ///< an NVIDIA GPU board
  amd_gpu,     ///< an AMD GPU
  intel_gpu,   ///< an Intel GPU with memory of its own
  psys,        ///< the platform as its vendor wired it; overlaps everything else
  custom,      ///< anything else, by a name of its own: a power rail, a battery
};

/// The kind of device that a domain is a part of.
enum class DomainCategory : std::uint8_t {
  cpu,       ///< packages, with their cores and integrated GPU, and their memory
  gpu,       ///< GPU boards, whatever their vendor
  platform,  ///< the whole machine, or a board of it
  other,     ///< custom domains
};

/// The kind's name as it stands in a domain's name: "package", "nvidia_gpu" ...
[[nodiscard]] WATTLE_EXPORT std::string_view to_string(DomainKind kind) noexcept;

/// "cpu", "gpu", "platform", "other".
[[nodiscard]] WATTLE_EXPORT std::string_view to_string(DomainCategory category) noexcept;

/// The kind of device that domains of this kind are parts of.
[[nodiscard]] WATTLE_EXPORT DomainCategory category_of(DomainKind kind) noexcept;

/// True for the kinds that a machine's total is made of: packages, DRAM and GPUs do not overlap.
/// Cores and integrated GPU lie inside their package; the platform overlaps everything; a custom
/// domain may.
[[nodiscard]] WATTLE_EXPORT bool counts_in_total(DomainKind kind) noexcept;

/// A measurable part of a device. Two domains are equal if they have the same name. Copying one
/// allocates nothing. Threads: a value type.
class WATTLE_EXPORT Domain {
 public:
  [[nodiscard]] static Domain package(std::uint32_t socket) noexcept;
  [[nodiscard]] static Domain dram(std::uint32_t socket) noexcept;
  [[nodiscard]] static Domain core(std::uint32_t socket) noexcept;
  [[nodiscard]] static Domain uncore(std::uint32_t socket) noexcept;
  [[nodiscard]] static Domain nvidia_gpu(std::uint32_t index) noexcept;
  [[nodiscard]] static Domain amd_gpu(std::uint32_t index) noexcept;
  [[nodiscard]] static Domain intel_gpu(std::uint32_t index) noexcept;
  /// `index` is 0 but on machines of several boards, each with a platform counter of its own.
  [[nodiscard]] static Domain psys(std::uint32_t index = 0) noexcept;
  /// A domain of a kind that Wattle does not know: `custom("hwmon", "psu_12v")` is
  /// `hwmon_psu_12v`. `source` is a letter and more letters or digits, `part` letters, digits and
  /// `_`, all in lower case; together at most 64 characters. Throws `InvalidArgument` for other
  /// text, and for a name of another kind ("package_0"). Every distinct name is kept until the
  /// process ends.
  [[nodiscard]] static Domain custom(std::string_view source, std::string_view part);
  /// The inverse of `name`. Throws `InvalidArgument` for text that is no name of a domain.
  [[nodiscard]] static Domain parse(std::string_view name);

  /// The same domain of one die, where a socket has several: `package_0_die_1`.
  [[nodiscard]] Domain on_die(std::uint32_t die) const noexcept;
  /// The same socket and die, but another kind: for example the package of a core domain.
  /// Neither kind is `custom`: such a domain stays as it is.
  [[nodiscard]] Domain as(DomainKind kind) const noexcept;

  [[nodiscard]] DomainKind kind() const noexcept { return kind_; }
  [[nodiscard]] DomainCategory category() const noexcept { return category_of(kind_); }
  /// The socket or device number; 0 for a custom domain.
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  /// Absent where the socket has one die.
  [[nodiscard]] std::optional<std::uint32_t> die() const noexcept { return die_; }
  /// The kind's name without the index: "package".
  [[nodiscard]] std::string_view kind_name() const noexcept { return to_string(kind_); }
  /// The full name: "package_0", "dram_0_die_1", "psys", "hwmon_psu_12v".
  [[nodiscard]] std::string name() const;

  [[nodiscard]] bool operator==(const Domain&) const noexcept = default;
  /// By kind in the order of `DomainKind`, then by number; custom domains by name.
  [[nodiscard]] std::strong_ordering operator<=>(const Domain& other) const noexcept;

 private:
  friend struct std::hash<Domain>;
  Domain(DomainKind kind, std::uint32_t index) noexcept : kind_(kind), index_(index) {}

  DomainKind kind_;
  std::uint32_t index_;
  std::optional<std::uint32_t> die_;
  /// A custom domain's name, one object for each name, never destroyed; null for other kinds.
  const std::string* custom_name_ = nullptr;
};

/// Prints the name.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const Domain& domain);

/// Every domain whose energy this process can measure now, by an energy counter or a power gauge.
/// In the order of `DomainKind`, each by number. Empty if nothing can be read: `wattle doctor`
/// prints the reason. GPU drivers have two seconds to answer. Threads: any.
[[nodiscard]] WATTLE_EXPORT std::vector<Domain> available_domains(
    const System& system = System::from_environment());

/// Those of one kind, by number. Drivers are asked for GPUs alone. Threads: any.
[[nodiscard]] WATTLE_EXPORT std::vector<Domain> available_domains(
    DomainKind kind, const System& system = System::from_environment());

}  // namespace wattle

/// @cond  Domains as keys of unordered containers.
template <>
struct std::hash<wattle::Domain> {
  std::size_t operator()(const wattle::Domain& domain) const noexcept {
    const std::optional<std::uint32_t> die = domain.die();
    const std::uint64_t die_key = die ? *die + std::uint64_t{1} : 0;
    const auto kind = static_cast<std::uint64_t>(domain.kind());
    return std::hash<std::uint64_t>{}((kind << 60U) ^ (die_key << 32U) ^ domain.index()) ^
           std::hash<const std::string*>{}(domain.custom_name_);
  }
};
/// @endcond
