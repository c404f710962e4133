#include "sensors/hwmon/device.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "sensors/hwmon/chip.hpp"
#include "sensors/hwmon/diagnosis.hpp"

namespace wattle::hwmon {
namespace {

namespace fs = std::filesystem;

/// The entries of a folder, in order. One that does not exist has none.
std::vector<std::string> names_in(const fs::path& folder, Devices& all) {
  FolderListing listing = list_folder(folder.string());
  if (listing.error != 0 && listing.error != ENOENT) {
    all.refused.push_back(unlisted(folder.string(), listing.error));
  }
  return std::move(listing.names);
}

/// True for a battery of the machine, not of a mouse.
bool is_battery(const fs::path& supply) {
  return line_in(supply / "type") == "Battery" && line_in(supply / "scope") != "Device";
}

/// Empty where it shows no power.
Files files_of(const fs::path& supply) {
  const auto has = [&](const char* file) {
    std::error_code ignored;
    return fs::exists(supply / file, ignored);
  };
  const std::string status = (supply / "status").string();
  if (has("power_now")) return {.value = (supply / "power_now").string(), .status = status};
  if (!has("current_now") || !has("voltage_now")) return {};
  constexpr std::uint64_t kPicoToMicro = 1'000'000;  // uA times uV
  return {.value = (supply / "current_now").string(),
          .factor = (supply / "voltage_now").string(),
          .divisor = kPicoToMicro,
          .status = status};
}

/// Adds a power supply if it is a battery of the machine that discharges; one that does not now, or
/// shows no power, is refused. Adds nothing for mains, USB ports, and the batteries of mice.
void add_battery(const fs::path& supply, Devices& all) {
  const std::string word = word_of(supply.filename().string());
  if (word.empty() || !is_battery(supply)) return;
  const Domain domain = Domain::custom("battery", word);
  const Files files = files_of(supply);
  if (files.value.empty()) {
    all.refused.push_back(no_power(domain, supply));
    return;
  }
  const std::string status = line_in(files.status);
  if (status != kDischarging) {
    all.refused.push_back(not_discharging(domain, files.status, status));
    return;
  }
  Channel channel{.domain = domain,
                  .source = kSource,
                  .place = files.value,
                  .metric = Metric::power_instant,
                  .gauge = {.scale = kMicro}};
  const std::string model = line_in(supply / "model_name");
  const std::string name = supply.filename().string();
  HwmonDevice battery{.info = {.model = printable(model.empty() ? name : model)}};
  battery.found.push_back({.channel = std::move(channel), .files = files});
  all.devices.push_back(std::move(battery));
}

}  // namespace

std::string word_of(std::string_view text) {
  std::string word;
  bool is_apart = false;
  for (const char letter : text) {
    const bool is_upper = letter >= 'A' && letter <= 'Z';
    if (!is_letter(letter) && !is_digit(letter)) {
      is_apart = !word.empty();
      continue;
    }
    if (word.size() + (is_apart ? 2 : 1) > kLongestWord) break;
    if (is_apart) word += '_';
    is_apart = false;
    word += is_upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return word;
}

std::string line_in(const fs::path& path) { return read_line(path.string()).value_or(""); }

Devices find_devices(const System& system) {
  const fs::path chips = system.sysfs / "class" / "hwmon";
  const fs::path supplies = system.sysfs / "class" / "power_supply";
  Devices all;
  const std::vector<std::string> chip_names = names_in(chips, all);
  const std::vector<std::string> supply_names = names_in(supplies, all);
  // The kernel makes a chip of every power supply too, with its name.
  std::set<std::string> shown_twice;
  for (std::string name : supply_names) {
    std::ranges::replace(name, '-', '_');
    shown_twice.insert(std::move(name));
  }
  all.devices = find_chips(chips, chip_names, shown_twice);
  for (const std::string& name : supply_names) add_battery(supplies / name, all);
  return all;
}

}  // namespace wattle::hwmon
