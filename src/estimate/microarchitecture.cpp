#include "estimate/microarchitecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text/text.hpp"

namespace wattle {
namespace {

struct NumberRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  [[nodiscard]] constexpr bool has(std::uint32_t number) const noexcept {
    return first <= number && number <= last;
  }
};

constexpr NumberRange kAnyStepping{0, UINT32_MAX};

/// Models of x86: Intel's by Linux's arch/x86/include/asm/intel-family.h (the steppings of model 85
/// and 158 by its arch/x86/events/intel and microcode lists), AMD's by arch/x86/kernel/cpu/amd.c;
/// of AMD's Zen generations the server models alone, since the table has no other machines.
struct Models {
  std::string_view key;
  bool is_amd = false;
  std::uint32_t family = 0;
  NumberRange models;
  NumberRange steppings = kAnyStepping;
};
constexpr auto kModels = std::to_array<Models>({
    {"amd-epyc-gen1", true, 23, {0, 15}},
    {"amd-epyc-gen2", true, 23, {48, 63}},
    {"amd-epyc-gen3", true, 25, {0, 15}},
    {"amd-epyc-gen4", true, 25, {16, 31}},
    {"amd-epyc-gen4", true, 25, {160, 175}},
    {"amd-epyc-gen5", true, 26, {0, 31}},
    {"intel-nehalem", false, 6, {26, 26}},
    {"intel-nehalem", false, 6, {30, 31}},
    {"intel-nehalem", false, 6, {46, 46}},
    {"intel-westmere", false, 6, {37, 37}},
    {"intel-westmere", false, 6, {44, 44}},
    {"intel-westmere", false, 6, {47, 47}},
    {"intel-sandybridge", false, 6, {42, 42}},
    {"intel-sandybridge", false, 6, {45, 45}},
    {"intel-ivybridge", false, 6, {58, 58}},
    {"intel-ivybridge", false, 6, {62, 62}},
    {"intel-haswell", false, 6, {60, 60}},
    {"intel-haswell", false, 6, {63, 63}},
    {"intel-haswell", false, 6, {69, 70}},
    {"intel-broadwell", false, 6, {61, 61}},
    {"intel-broadwell", false, 6, {71, 71}},
    {"intel-broadwell", false, 6, {79, 79}},
    {"intel-broadwell", false, 6, {86, 86}},
    {"intel-skylake-server", false, 6, {85, 85}, {0, 4}},
    {"intel-cascadelake", false, 6, {85, 85}, {5, 7}},
    {"intel-cooperlake", false, 6, {85, 85}, {10, 11}},
    {"intel-icelake", false, 6, {106, 106}},
    {"intel-icelake", false, 6, {108, 108}},
    {"intel-sapphirerapids", false, 6, {143, 143}},
    {"intel-emeraldrapids", false, 6, {207, 207}},
    {"intel-graniterapids", false, 6, {173, 174}},
    {"intel-sierraforest", false, 6, {175, 175}},
    {"intel-coffeelake", false, 6, {158, 158}, {10, 13}},
    {"intel-rocketlake", false, 6, {167, 167}},
});

constexpr std::uint32_t kArm = 0x41;  // implementer "Arm Limited"
constexpr std::uint32_t kNeoverseN1 = 0xd0c;

bool is_amd(const ProcessorKind& kind) noexcept {
  return kind.vendor == "AuthenticAMD" || kind.vendor == "HygonGenuine";
}
bool is_intel(const ProcessorKind& kind) noexcept { return kind.vendor == "GenuineIntel"; }

std::string_view key_of(const ProcessorKind& kind) noexcept {
  if (kind.implementer == kArm && kind.part == kNeoverseN1) return "amd-neoverse-n1";
  if (!kind.family || !kind.model || (!is_amd(kind) && !is_intel(kind))) return {};
  for (const Models& row : kModels) {
    if (row.is_amd == is_amd(kind) && row.family == *kind.family && row.models.has(*kind.model) &&
        row.steppings.has(kind.stepping.value_or(0))) {
      return row.key;
    }
  }
  return {};
}

std::string_view vendor_of(const ProcessorKind& kind) noexcept {
  if (is_amd(kind)) return "amd";
  if (is_intel(kind)) return "intel";
  return kind.implementer ? "arm" : "";
}

std::string numbers_text(const ProcessorKind& kind) {
  std::vector<std::string> parts;
  if (!kind.vendor.empty()) parts.push_back(kind.vendor);
  if (kind.family) parts.push_back(fmt::format("cpu family {}", *kind.family));
  if (kind.model) parts.push_back(fmt::format("model {}", *kind.model));
  if (kind.stepping) parts.push_back(fmt::format("stepping {}", *kind.stepping));
  if (kind.implementer) parts.push_back(fmt::format("CPU implementer {:#x}", *kind.implementer));
  if (kind.part) parts.push_back(fmt::format("CPU part {:#x}", *kind.part));
  return joined(parts, ", ");
}

std::string_view vendor_title(std::string_view vendor) noexcept {
  if (vendor == "amd") return "AMD";
  if (vendor == "intel") return "Intel";
  return vendor == "arm" ? "Arm" : "";
}

Microarchitecture recognize_kind(const ProcessorKind& kind) {
  const std::string_view key = key_of(kind);
  const auto table = known_server_power();
  const auto known = std::ranges::find(table, key, &ServerPower::key);
  const bool is_known = !key.empty() && known != table.end();
  const ServerPower& row = is_known ? *known : server_power_of_everyone();
  Microarchitecture found{.title = std::string(row.title),
                          .recognized_by = numbers_text(kind),
                          .is_known = is_known,
                          .machines = row.machines,
                          .idle = row.idle,
                          .full = row.full,
                          .above = row.above,
                          .cores_per_package = row.cores_per_package,
                          .has_smt = row.has_smt};
  if (!is_known) {
    const std::string_view vendor = vendor_title(vendor_of(kind));
    found.title = vendor.empty() ? "unknown microarchitecture"
                                 : fmt::format("unknown microarchitecture of {}", vendor);
    found.has_smt = vendor_of(kind) != "arm";  // no server of Arm's designs has two threads a core
  }
  return found;
}

PowerRange widest(const PowerRange& a, const PowerRange& b) noexcept {
  return {.low = std::min(a.low, b.low),
          .typical = (a.typical + b.typical) / 2.0,
          .high = std::max(a.high, b.high)};
}

void join(Microarchitecture& all, const Microarchitecture& other) {
  if (all.title != other.title) {
    all.title += " and " + other.title;
    all.machines = std::max(all.machines, other.machines);
  }
  all.recognized_by += "; " + other.recognized_by;
  all.is_known = all.is_known && other.is_known;
  all.idle = widest(all.idle, other.idle);
  all.full = widest(all.full, other.full);
  all.above = widest(all.above, other.above);
  all.cores_per_package = widest(all.cores_per_package, other.cores_per_package);
  all.has_smt = all.has_smt || other.has_smt;
}

}  // namespace

Microarchitecture recognize(const Processors& processors) {
  if (processors.kinds.empty()) {
    Microarchitecture unknown = recognize_kind({});
    unknown.recognized_by = "/proc/cpuinfo does not name it";
    return unknown;
  }
  Microarchitecture all = recognize_kind(processors.kinds.front());
  for (auto kind = processors.kinds.begin() + 1; kind != processors.kinds.end(); ++kind) {
    join(all, recognize_kind(*kind));
  }
  return all;
}

}  // namespace wattle
