#include "sensors/hwmon/device.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "sensors/hwmon/battery.hpp"
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
