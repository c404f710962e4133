#include "sensors/cpu_info.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include "base/files/fd.hpp"
#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

bool has_word(std::string_view words, std::string_view wanted) noexcept {
  for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
    if (word == wanted) return true;
  }
  return false;
}

/// "0x41" and "65" alike.
std::optional<std::uint32_t> parse_small_number(std::string_view text) noexcept {
  const int base = take_prefix(text, "0x") ? 16 : 10;
  return parse_unsigned<std::uint32_t>(text, base);
}

void read_field(ProcessorKind& kind, std::string_view key, std::string_view value) {
  if (key == "vendor_id") kind.vendor = printable(value);
  if (key == "cpu family") kind.family = parse_small_number(value);
  if (key == "model") kind.model = parse_small_number(value);
  if (key == "stepping") kind.stepping = parse_small_number(value);
  if (key == "CPU implementer") kind.implementer = parse_small_number(value);
  if (key == "CPU part") kind.part = parse_small_number(value);
}

/// Which core a thread belongs to.
struct CorePlace {
  std::optional<std::uint32_t> package;
  std::optional<std::uint32_t> core;

  void read_field(std::string_view key, std::string_view value) noexcept {
    if (key == "physical id") package = parse_small_number(value);
    if (key == "core id") core = parse_small_number(value);
  }
};

/// Kernels are built for 8192 CPUs at most (NR_CPUS); a list cannot ask for more memory than this.
constexpr std::uint32_t kMostCpus = 65536;

/// Counts cores and packages of the threads that are added. One whose place is not known makes
/// both unknown.
class TopologyCount {
 public:
  void add(const CorePlace& place) {
    is_known_ = is_known_ && place.package && place.core;
    if (!is_known_) return;
    cores_.insert({*place.package, *place.core});
    packages_.insert(*place.package);
  }
  void count_into(Processors& processors) const noexcept {
    if (!is_known_) return;
    processors.cores = static_cast<unsigned>(cores_.size());
    processors.packages = static_cast<unsigned>(packages_.size());
  }

 private:
  bool is_known_ = true;
  std::set<std::pair<std::uint32_t, std::uint32_t>> cores_;
  std::set<std::uint32_t> packages_;
};

/// From the topology of the CPUs that are online.
void read_topology(const System& system, Processors& processors) {
  const auto list = read_line((system.sysfs / "devices/system/cpu/online").string());
  const auto cpus = list ? parse_cpu_list(*list) : std::nullopt;
  if (!cpus || cpus->size() != processors.threads) return;
  TopologyCount count;
  for (const std::uint32_t cpu : *cpus) {
    count.add({.package = read_cpu_topology(system, cpu, "physical_package_id"),
               .core = read_cpu_topology(system, cpu, "core_id")});
  }
  count.count_into(processors);
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
    if (key != "flags") continue;
    info.states_flags = true;
    info.hypervisor = has_word(value, "hypervisor");
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
  info.states_flags = !info.vendor.empty();
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
  CorePlace place;
  TopologyCount topology;
  const auto end_processor = [&] {
    add_kind(processors, kind);
    if (processors.threads > 0) topology.add(place);
    kind = {};
    place = {};
  };
  while (!text.empty()) {
    std::string_view value = take_line(text);
    const std::string_view key = take_key(value, ':');
    if (key == "processor") {
      end_processor();
      ++processors.threads;
    }
    read_field(kind, key, value);
    place.read_field(key, value);
    // Every processor has the same long line: the first that says so is enough.
    if (key == "flags" && !processors.states_flags) {
      processors.states_flags = true;
      processors.hypervisor = has_word(value, "hypervisor");
    }
  }
  end_processor();
  topology.count_into(processors);
  return processors;
}

Processors read_processors(const System& system) {
  const auto text = read_file((system.procfs / "cpuinfo").string());
  if (!text) {
    const CpuInfo alias = read_cpu_info(system);
    return {.hypervisor = alias.hypervisor, .states_flags = alias.states_flags};
  }
  Processors processors = parse_processors(*text);
  if (processors.cores == 0) read_topology(system, processors);
  return processors;
}

std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text) {
  if (text.empty() || text.back() == ',') return std::nullopt;
  std::vector<std::uint32_t> cpus;
  while (!text.empty()) {
    std::string_view range = take_until(text, ',');
    const bool is_single = range.find('-') == std::string_view::npos;
    const auto first = parse_unsigned<std::uint32_t>(take_until(range, '-'));
    const auto last = is_single ? first : parse_unsigned<std::uint32_t>(range);
    if (!first || !last || *first > *last || *last >= kMostCpus) return std::nullopt;
    // Ranges rise: without this, a short text could ask for much memory.
    if (!cpus.empty() && *first <= cpus.back()) return std::nullopt;
    for (std::uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::filesystem::path cpu_topology_file(const System& system, std::uint32_t cpu,
                                        std::string_view name) {
  return system.sysfs / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology" / name;
}

std::optional<std::uint32_t> read_cpu_topology(const System& system, std::uint32_t cpu,
                                               std::string_view name) {
  const auto line = read_line(cpu_topology_file(system, cpu, name).string());
  return line ? parse_unsigned<std::uint32_t>(*line) : std::nullopt;
}

std::string cpu_info_proof(const System& system, const CpuInfo& cpu) {
  return (system.procfs / "cpuinfo").string() + ": " + std::generic_category().message(cpu.error);
}

}  // namespace wattle
