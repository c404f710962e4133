#include "sensors/cpu_info.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"

namespace wattle {
namespace {

std::string_view trim(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool has_word(std::string_view words, std::string_view wanted) noexcept {
  for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
    if (word == wanted) return true;
  }
  return false;
}

}  // namespace

CpuInfo parse_cpu_info(std::string_view text) {
  CpuInfo info;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;  // the end of the first processor
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
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
  constexpr std::size_t kFirstProcessorBytes = 16384;  // its flags line has about 2 KiB
  const auto text = read_file((system.procfs / "cpuinfo").string(), kFirstProcessorBytes);
  if (text) return parse_cpu_info(*text);
  CpuInfo unknown;
  unknown.error = errno == ENOENT ? 0 : errno;
  // A service may see processes alone in its /proc.
  const auto alias = read_line((system.sysfs / "devices/system/cpu/modalias").string());
  return alias ? parse_cpu_alias(*alias) : unknown;
}

std::string cpu_info_proof(const System& system, const CpuInfo& cpu) {
  return (system.procfs / "cpuinfo").string() + ": " + std::generic_category().message(cpu.error);
}

}  // namespace wattle
