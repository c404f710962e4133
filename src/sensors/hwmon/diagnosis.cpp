#include "sensors/hwmon/diagnosis.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/files/file.hpp"
#include "base/text/text.hpp"
#include "sensors/refusals.hpp"

namespace wattle::hwmon {
namespace {

constexpr const char* kReadable =
    "drivers let every user read these files, with few exceptions (amd_energy): see who changed "
    "that (a container's rules, udev), or run wattle as root";

}  // namespace

SensorRefusal nothing_found(const System& system) {
  return {.subject = "power rails and batteries",
          .reason = "no chip shows power or energy, and there is no battery",
          .proof = fmt::format("{0}/class/hwmon has no power or energy file outside of "
                               "graphics cards, {0}/class/power_supply no battery",
                               system.sysfs.string()),
          .absent = true,
          .scope = RefusalScope::interface};
}

SensorRefusal unlisted(const std::string& folder, int error) {
  return {.subject = "power rails and batteries",
          .reason = "the list of devices cannot be read",
          .proof = fmt::format("{}: {}", folder, std::generic_category().message(error)),
          .remedy = kReadable};
}

SensorRefusal unreadable(const Channel& channel, const std::string& path, int error) {
  if (error == EACCES) {
    SensorRefusal refused = refusal_of(channel.domain, {}, path + " may not be read by this user",
                                       path_with_mode(path), kReadable);
    refused.denied_path = path;
    return refused;
  }
  if (error == 0) {
    return refusal_of(channel.domain, {}, "the driver gives no value", path + " holds no number");
  }
  const std::string cause = std::generic_category().message(error);
  return refusal_of(channel.domain, {}, "the driver refuses it: " + cause, path + ": " + cause,
                    "dmesg may say why");
}

SensorRefusal no_answer(const HwmonDevice& device, std::chrono::nanoseconds deadline) {
  const Channel& channel = device.found.front().channel;
  return refusal_of(channel.domain, {},
                    fmt::format("the chip did not answer within {:g} s", Seconds(deadline).count()),
                    fmt::format("a read of {} has not returned", channel.place),
                    "dmesg may say why; a restart of the machine helps");
}

SensorRefusal no_power(const Domain& battery, const std::filesystem::path& supply) {
  return refusal_of(
      battery, {}, "this battery shows no power",
      fmt::format("{} has neither power_now nor current_now with voltage_now", supply.string()));
}

SensorRefusal not_discharging(const Domain& battery, const std::string& path,
                              const std::string& status) {
  SensorRefusal refused =
      refusal_of(battery, {}, "it shows the power of the machine only while it discharges",
                 fmt::format("{}: {}", path, printable(status)),
                 "unplug the charger before the command starts");
  refused.absent = true;
  return refused;
}

}  // namespace wattle::hwmon
