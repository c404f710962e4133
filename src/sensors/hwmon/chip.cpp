#include "sensors/hwmon/chip.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"

namespace wattle::hwmon {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Chips of graphics cards, which other providers read: i915 has more of them, "i915_gt0".
constexpr std::array<std::string_view, 5> kCards = {"amdgpu", "i915", "xe", "nouveau", "nvidia"};

/// Chips whose voltage N and current N are those of one rail (Documentation/hwmon/ina3221.rst).
constexpr std::array<std::string_view, 1> kPairedChips = {"ina3221"};

struct Suffix {
  std::string_view prefix;
  std::string_view suffix;
  Metric metric;
};
constexpr std::array kSuffixes = {Suffix{"energy", "_input", Metric::energy},
                                  Suffix{"power", "_input", Metric::power_instant},
                                  Suffix{"power", "_average", Metric::power_average},
                                  Suffix{"power", "_cap", Metric::power_limit}};

bool is_of_card(std::string_view chip) noexcept {
  return std::ranges::any_of(kCards, [&](std::string_view card) {
    return chip.starts_with(card) && (chip.size() == card.size() || chip[card.size()] == '_');
  });
}

/// A chip that shows something.
struct Chip {
  std::string name;   ///< "ina226"
  std::string place;  ///< of its device: the same after a restart
  fs::path folder;
  std::vector<std::string> files;
};

/// The folder of a chip's attributes: older drivers have them at the device.
fs::path attributes_of(const fs::path& chip) {
  return line_in(chip / "name").empty() && !line_in(chip / "device/name").empty() ? chip / "device"
                                                                                  : chip;
}

/// ".../i2c-1/1-0040" of ".../i2c-1/1-0040/hwmon/hwmon3", whose number changes.
std::string place_of(const fs::path& chip) {
  std::error_code ignored;
  return fs::read_symlink(chip, ignored).parent_path().parent_path().string();
}

std::vector<Chip> list_chips(const fs::path& folder, const std::vector<std::string>& names,
                             const std::set<std::string>& covered) {
  std::vector<Chip> chips;
  for (const std::string& name : names) {
    const fs::path entry = folder / name;
    Chip chip{.name = {}, .place = place_of(entry), .folder = attributes_of(entry), .files = {}};
    chip.name = line_in(chip.folder / "name");
    if (is_of_card(chip.name) || covered.contains(chip.name)) continue;
    chip.files = list_folder(chip.folder.string()).names;
    chips.push_back(std::move(chip));
  }
  std::ranges::sort(chips, {}, [](const Chip& chip) {
    return std::tuple(chip.name, chip.place.size(), chip.place, chip.folder);
  });
  return chips;
}

/// Labels of the power meters that ACPI shows are in another file (Grace).
std::string label_of(const Chip& chip, std::string_view prefix, std::uint32_t number) {
  const std::string stem = std::string(prefix) + std::to_string(number);
  const std::string label = line_in(chip.folder / (stem + "_label"));
  return label.empty() && prefix == "power" ? line_in(chip.folder / (stem + "_oem_info")) : label;
}

/// Rails that contain others, by label, on NVIDIA's Grace (Grace Performance Tuning Guide, "Power
/// and Thermal Management"). Empty: nothing known.
std::string outer_label(std::string_view label) {
  constexpr std::string_view kSocket = " Power Socket ";
  const std::size_t end = label.find(kSocket);
  if (end == std::string_view::npos) return {};
  const std::string_view part = label.substr(0, end);
  const std::string rest(label.substr(end));
  if (part == "CPU" || part == "SysIO") return "Grace" + rest;
  return part == "Grace" ? "Module" + rest : std::string();
}

/// The package that a socket's counter of amd_energy is about.
std::optional<Domain> package_of(const Chip& chip, std::string_view label) {
  constexpr std::string_view kSocket = "Esocket";
  if (chip.name != "amd_energy" || !label.starts_with(kSocket)) return std::nullopt;
  const auto socket = parse_unsigned<std::uint32_t>(label.substr(kSocket.size()));
  return socket ? std::optional(Domain::package(*socket)) : std::nullopt;
}

/// A quantity of a rail.
struct RailQuantity {
  Metric metric;
  Files files;
  std::optional<std::chrono::nanoseconds> window{};
};

/// One measured thing of a chip: its files have one number and one label.
struct Rail {
  std::string label;
  std::uint32_t number;
  std::vector<RailQuantity> shown{};
};

Rail& rail_of(std::vector<Rail>& rails, std::string label, std::uint32_t number) {
  const auto known = std::ranges::find_if(
      rails, [&](const Rail& rail) { return rail.label == label && rail.number == number; });
  if (known != rails.end()) return *known;
  return rails.emplace_back(Rail{.label = std::move(label), .number = number});
}

void add_attribute(const Chip& chip, const std::string& file, const Attribute& attribute,
                   std::vector<Rail>& rails) {
  const bool is_energy = attribute.metric == Metric::energy;
  std::string label = label_of(chip, is_energy ? "energy" : "power", attribute.number);
  // There is one for each core, up to hundreds: the sockets have them all.
  if (chip.name == "amd_energy" && label.starts_with("Ecore")) return;
  const std::string path = (chip.folder / file).string();
  RailQuantity shown{.metric = attribute.metric, .files = {.value = path}};
  if (attribute.metric == Metric::power_average) {
    const auto interval = parse_unsigned<std::uint32_t>(line_in(path + "_interval"));
    if (interval.value_or(0) > 0) shown.window = milliseconds(*interval);
  }
  rail_of(rails, std::move(label), attribute.number).shown.push_back(std::move(shown));
}

/// Rails whose power no file shows, but their voltage (mV) and current (mA). Of ina3221, in4 to in7
/// are voltages of shunts, and curr4 is a sum of currents (Documentation/hwmon/ina3221.rst).
void add_pairs(const Chip& chip, std::vector<Rail>& rails) {
  if (std::ranges::find(kPairedChips, chip.name) == kPairedChips.end()) return;
  constexpr std::uint32_t kMostChannel = 3;
  for (const std::string& file : chip.files) {
    constexpr std::string_view kInput = "_input";
    if (!file.starts_with("curr") || !file.ends_with(kInput)) continue;
    const std::string digits = file.substr(4, file.size() - 4 - kInput.size());
    const auto number = parse_unsigned<std::uint32_t>(digits);
    const std::string voltage = "in" + digits + "_input";
    if (number.value_or(0) == 0 || *number > kMostChannel) continue;
    if (!std::ranges::binary_search(chip.files, voltage)) continue;
    rail_of(rails, line_in(chip.folder / ("in" + digits + "_label")), *number)
        .shown.push_back({.metric = Metric::power_instant,
                          .files = {.value = (chip.folder / file).string(),
                                    .factor = (chip.folder / voltage).string()}});
  }
}

std::vector<Rail> rails_of(const Chip& chip) {
  std::vector<Rail> rails;
  for (const std::string& file : chip.files) {
    if (const auto attribute = parse_attribute(file)) add_attribute(chip, file, *attribute, rails);
  }
  add_pairs(chip, rails);
  // A limit alone says nothing.
  std::erase_if(rails, [](const Rail& rail) {
    return std::ranges::all_of(
        rail.shown, [](const RailQuantity& shown) { return shown.metric == Metric::power_limit; });
  });
  std::ranges::sort(rails, {}, [](const Rail& rail) { return std::tie(rail.number, rail.label); });
  for (Rail& rail : rails) std::ranges::sort(rail.shown, {}, &RailQuantity::metric);
  return rails;
}

/// Gives every rail a name of its own, and knows which label became which domain.
class Names {
 public:
  Domain name(const Chip& chip, const Rail& rail, bool is_only) {
    const std::string label = word_of(rail.label);
    std::string part = word_of(chip.name);
    // Every meter that ACPI shows is called so: its label says it all.
    if (part.empty() || (part == "power_meter" && !label.empty())) part.clear();
    if (!label.empty()) {
      part += (part.empty() ? "" : "_") + label;
    } else if (!is_only || part.empty()) {
      part += (part.empty() ? "input" : "_input") + std::to_string(rail.number);
    }
    const Domain domain = Domain::custom(kSource, unique(part));
    if (!rail.label.empty()) by_label_.emplace(rail.label, domain);
    return domain;
  }
  [[nodiscard]] std::optional<Domain> labelled(const std::string& label) const {
    const auto found = by_label_.find(label);
    return found == by_label_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The labels that start so.
  [[nodiscard]] std::vector<std::string> labels_after(std::string_view start) const {
    std::vector<std::string> labels;
    for (const auto& [label, domain] : by_label_) {
      if (label.starts_with(start)) labels.push_back(label);
    }
    return labels;
  }

 private:
  std::string unique(const std::string& part) {
    std::string name = part;
    for (int number = 2; !used_.insert(name).second; ++number) {
      name = part + "_" + std::to_string(number);
    }
    return name;
  }
  std::set<std::string> used_;
  std::map<std::string, Domain> by_label_;
};

/// The device that takes `count` more channels: a sensor has as many as fit into a choice of them.
HwmonDevice& device_for(const Chip& chip, std::size_t count, std::vector<HwmonDevice>& devices,
                        std::size_t first) {
  const bool fits =
      devices.size() > first && devices.back().found.size() + count <= ChannelSet().size();
  if (fits) return devices.back();
  return devices.emplace_back(
      HwmonDevice{.info = {.id = printable(fs::path(chip.place).filename().string()),
                           .model = printable(chip.name)}});
}

Channel channel_of(const Domain& domain, const RailQuantity& shown) {
  return {.domain = domain,
          .counter = {.tick = Joules(kMicro), .max_power = traits_of(domain).max_power},
          .source = kSource,
          .place = shown.files.value,
          .metric = shown.metric,
          .gauge = {.scale = kMicro, .window = shown.window}};
}

/// A channel of a domain's mean power, and its device; null where it has none.
struct AverageOf {
  HwmonDevice* device = nullptr;
  const PlannedChannel* channel = nullptr;
};
AverageOf average_of(std::vector<HwmonDevice>& devices, const std::optional<Domain>& domain) {
  if (!domain) return {};
  for (HwmonDevice& device : devices) {
    for (const PlannedChannel& one : device.found) {
      const bool is_average = one.channel.metric == Metric::power_average;
      if (is_average && one.channel.domain == *domain) return {&device, &one};
    }
  }
  return {};
}

/// Grace has no meter of its memory, which is what its CPU and SysIO leave of it (the same guide).
void add_grace_memory(const Names& given, const std::string& socket,
                      std::vector<HwmonDevice>& devices) {
  const std::string rest = socket.substr(std::string_view("Grace").size());
  const AverageOf all = average_of(devices, given.labelled(socket));
  const AverageOf cpu = average_of(devices, given.labelled("CPU" + rest));
  const AverageOf io = average_of(devices, given.labelled("SysIO" + rest));
  if (all.channel == nullptr || cpu.channel == nullptr || io.channel == nullptr) return;
  PlannedChannel memory = *all.channel;
  memory.files.less = {cpu.channel->files.value, io.channel->files.value};
  memory.channel.contained_in = memory.channel.domain;
  memory.channel.domain = Domain::custom(kSource, word_of("DRAM" + rest));
  all.device->found.push_back(std::move(memory));
}

}  // namespace

std::vector<HwmonDevice> find_chips(const fs::path& folder, const std::vector<std::string>& names,
                                    const std::set<std::string>& covered) {
  std::vector<HwmonDevice> devices;
  Names given;
  std::map<Domain, std::string> outer;
  for (const Chip& chip : list_chips(folder, names, covered)) {
    const std::vector<Rail> rails = rails_of(chip);
    const std::size_t first = devices.size();
    for (const Rail& rail : rails) {
      const Domain domain = given.name(chip, rail, rails.size() == 1);
      outer[domain] = outer_label(rail.label);
      HwmonDevice& device = device_for(chip, rail.shown.size(), devices, first);
      for (const RailQuantity& shown : rail.shown) {
        device.found.push_back({.channel = channel_of(domain, shown), .files = shown.files});
        device.found.back().channel.contained_in = package_of(chip, rail.label);
      }
    }
  }
  for (HwmonDevice& device : devices) {
    for (PlannedChannel& one : device.found) {
      if (one.channel.contained_in) continue;
      one.channel.contained_in = given.labelled(outer.at(one.channel.domain));
    }
  }
  for (const std::string& socket : given.labels_after("Grace Power Socket ")) {
    add_grace_memory(given, socket, devices);
  }
  return devices;
}

std::optional<Attribute> parse_attribute(std::string_view name) noexcept {
  for (const Suffix& form : kSuffixes) {
    if (name.size() <= form.prefix.size() + form.suffix.size()) continue;
    if (!name.starts_with(form.prefix) || !name.ends_with(form.suffix)) continue;
    name.remove_prefix(form.prefix.size());
    name.remove_suffix(form.suffix.size());
    const auto number = parse_unsigned<std::uint32_t>(name);
    return number ? std::optional(Attribute{form.metric, *number}) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace wattle::hwmon
