#include "sensors/cpu_info.hpp"

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

CpuInfo read_cpu_info(const System& system) {
  constexpr std::size_t kFirstProcessorBytes = 16384;  // its flags line has about 2 KiB
  const auto text = read_file((system.procfs / "cpuinfo").string(), kFirstProcessorBytes);
  return text ? parse_cpu_info(*text) : CpuInfo{};
}

}  // namespace wattle
