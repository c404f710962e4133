#include "sensors/cpu_info.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/parse.hpp"
#include "base/split.hpp"
#include "base/text.hpp"

namespace wattle {
namespace {

bool has_word(std::string_view words, std::string_view wanted) noexcept {
  for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
    if (word == wanted) return true;
  }
  return false;
}

/// "0x41" and "65" alike.
std::optional<std::uint32_t> parse_number(std::string_view text) noexcept {
  const int base = take_prefix(text, "0x") ? 16 : 10;
  return parse_unsigned<std::uint32_t>(text, base);
}

void read_field(ProcessorKind& kind, std::string_view key, std::string_view value) {
  if (key == "vendor_id") kind.vendor = printable(value);
  if (key == "cpu family") kind.family = parse_number(value);
  if (key == "model") kind.model = parse_number(value);
  if (key == "stepping") kind.stepping = parse_number(value);
  if (key == "CPU implementer") kind.implementer = parse_number(value);
  if (key == "CPU part") kind.part = parse_number(value);
}

void add_kind(Processors& processors, const ProcessorKind& kind) {
  if (kind.is_unknown() || processors.kinds.size() == Processors::kMostKinds) return;
  if (std::ranges::find(processors.kinds, kind) != processors.kinds.end()) return;
  processors.kinds.push_back(kind);
}

}  // namespace

CpuInfo parse_cpu_info(std::string_view text) {
  CpuInfo info;
  while (!text.empty()) {
    std::string_view value = take_line(text);
    if (value.empty()) break;  // the end of the first processor
    const std::string_view key = take_key(value, ':');
    if (key == "vendor_id") info.vendor = printable(value);
    if (key == "model name") info.model_name = printable(value);
    if (key == "flags") info.hypervisor = has_word(value, "hypervisor");
  }
  return info;
}

CpuInfo parse_cpu_alias(std::string_view alias) {
  // "cpu:type:x86,ven0002fam0019mod0001:feature:,0000,0001,..."; arch/x86/include/asm/processor.h
  // numbers the vendors, cpufeatures.h the features.
  constexpr std::string_view kVendor = "type:x86,ven";
  constexpr std::array kVendors = {std::pair{std::string_view("0000"), "GenuineIntel"},
                                   std::pair{std::string_view("0002"), "AuthenticAMD"},
                                   std::pair{std::string_view("0009"), "HygonGenuine"}};
  CpuInfo info;
  const std::size_t place = alias.find(kVendor);
  if (place == std::string_view::npos) return info;
  const std::string_view number = alias.substr(place + kVendor.size(), 4);
  for (const auto& [vendor, name] : kVendors) {
    if (number == vendor) info.vendor = name;
  }
  info.hypervisor = alias.find(",009F,") != std::string_view::npos;
  return info;
}

CpuInfo read_cpu_info(const System& system) {
  // One read brings at least the first processor, whose flags line has about 2 KiB.
  std::array<char, 8192> text;
  const Fd file = open_for_reading((system.procfs / "cpuinfo").string());
  const ssize_t count = file ? read_at_start(file.get(), text) : -1;
  if (count >= 0) return parse_cpu_info({text.data(), static_cast<std::size_t>(count)});
  CpuInfo unknown;
  unknown.error = errno == ENOENT ? 0 : errno;
  // A service may see processes alone in its /proc.
  const auto alias = read_line((system.sysfs / "devices/system/cpu/modalias").string());
  return alias ? parse_cpu_alias(*alias) : unknown;
}

Processors parse_processors(std::string_view text) {
  Processors processors;
  ProcessorKind kind;
  while (!text.empty()) {
    std::string_view value = take_line(text);
    const std::string_view key = take_key(value, ':');
    if (key == "processor") {  // the next one starts
      add_kind(processors, kind);
      kind = {};
    }
    read_field(kind, key, value);
    // Every processor has the same long line: the first that says so is enough.
    if (key == "flags" && !processors.hypervisor && processors.kinds.empty()) {
      processors.hypervisor = has_word(value, "hypervisor");
    }
  }
  add_kind(processors, kind);
  return processors;
}

Processors read_processors(const System& system) {
  const auto text = read_file((system.procfs / "cpuinfo").string());
  return text ? parse_processors(*text) : Processors{};
}

std::string cpu_info_proof(const System& system, const CpuInfo& cpu) {
  return (system.procfs / "cpuinfo").string() + ": " + std::generic_category().message(cpu.error);
}

}  // namespace wattle
