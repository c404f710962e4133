#include "sensors/hwmon/battery.hpp"

#include <system_error>
#include <utility>

#include "base/text/text.hpp"
#include "sensors/hwmon/diagnosis.hpp"

namespace wattle::hwmon {
namespace {

namespace fs = std::filesystem;

/// Of the machine, not of a mouse.
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

}  // namespace

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

}  // namespace wattle::hwmon
