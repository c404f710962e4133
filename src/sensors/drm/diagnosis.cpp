#include "sensors/drm/diagnosis.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/files/file.hpp"
#include "base/text/text.hpp"
#include "sensors/refusals.hpp"

namespace wattle::drm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReadable =
    "every user may, as a rule: see who changed that (a container's rules, udev), or run wattle as "
    "root";

/// The domain of a card that cannot be read: total_of() treats GPUs of all vendors alike.
std::vector<DomainKind> any_gpu() { return {DomainKind::amd_gpu}; }

}  // namespace

SensorRefusal no_gpus(const System& system, const std::vector<Card>& others) {
  const std::string folder = (system.sysfs / "class/drm").string();
  const std::string listed = joined(others, ", ", [](const Card& card) {
    return fmt::format("{} ({})", card.name, card.driver.empty() ? "no driver" : card.driver);
  });
  return {.subject = "AMD and Intel GPUs",
          .reason = "no AMD or Intel GPU",
          .proof = listed.empty() ? fmt::format("{} holds no cards", folder)
                                  : fmt::format("{} holds {}", folder, listed),
          .remedy = "if there is one: load its driver, amdgpu, i915 or xe",
          .absent = true,
          .scope = RefusalScope::interface};
}

SensorRefusal unlisted(const System& system, int error, bool in_part) {
  const std::string folder = (system.sysfs / "class/drm").string();
  return {.subject = "AMD and Intel GPUs",
          .reason = "the list of cards cannot be read",
          .proof = fmt::format("{}: {}", folder, std::generic_category().message(error)),
          .remedy = kReadable,
          .scope = in_part ? RefusalScope::part : RefusalScope::interface,
          .hidden = {.kinds = in_part ? any_gpu() : std::vector<DomainKind>{}}};
}

SensorRefusal unknown_card(const Card& card) {
  return {.subject = card.name,
          .reason = "the type of this card cannot be read",
          .proof = fmt::format("{}: {}", (card.device() / "uevent").string(),
                               std::generic_category().message(card.error)),
          .remedy = kReadable,
          .hidden = {.kinds = any_gpu()}};
}

SensorRefusal unknown_driver(const Card& card) {
  const bool is_amd = card.ids.starts_with("1002:");
  const bool inside = !is_amd && card.pci_address.starts_with(kProcessorBus);
  return {.subject = card.name,
          .reason = card.driver.empty()
                        ? "this GPU has no driver"
                        : fmt::format("its driver, {}, reports no energy", card.driver),
          .proof = fmt::format("{}: {}, PCI {}", (card.device() / "uevent").string(), card.ids,
                               card.pci_address),
          .remedy = is_amd ? "use the driver amdgpu, where it knows this GPU" : "",
          .hidden = {.kinds = inside ? std::vector<DomainKind>{} : any_gpu()}};
}

SensorRefusal inside_processor(const GpuCard& card) {
  const bool is_amd = card.is_amd();
  SensorRefusal refused = refusal_of(
      card.domain, "energy", "this GPU lies inside a processor, whose package_N counts its energy",
      is_amd ? fmt::format("{}: the power that {} shows is that of the whole processor",
                           card.device().string(), card.driver)
             : fmt::format("PCI {}, {}", card.pci_address, card.driver),
      is_amd ? "" : "uncore_N is its part, on processors that count it");
  refused.absent = true;
  return refused;
}

SensorRefusal no_power_sensor(const GpuCard& card, const fs::path& hwmon) {
  const char* remedy =
      "i915 shows a board's energy since Linux 6.2, xe since 6.8: see whether yours is older";
  if (card.is_amd()) {
    remedy =
        "amdgpu shows it unless its power management is off (amdgpu.dpm=0) or the GPU is one of "
        "several virtual ones: dmesg | grep -i amdgpu says more";
  }
  return refusal_of(card.domain, {},
                    fmt::format("{} shows neither its energy nor its power", card.driver),
                    hwmon.empty() ? fmt::format("no {}/hwmon/hwmonN", card.device().string())
                                  : fmt::format("{} holds neither", hwmon.string()),
                    remedy);
}

SensorRefusal unreadable(const GpuCard& card, std::string_view what, const std::string& path,
                         int error) {
  const std::string prefix = what.empty() ? "neither its energy nor its power can be read: " : "";
  if (error == EACCES) {
    return refusal_of(card.domain, what, prefix + "this user may not open the file",
                      path_with_mode(path), kReadable);
  }
  if (error == 0) {
    return refusal_of(card.domain, what, prefix + "the driver gives no value",
                      path + " holds no number", {});
  }
  const std::string cause = std::generic_category().message(error);
  return refusal_of(card.domain, what, prefix + "the driver refuses it: " + cause,
                    path + ": " + cause,
                    fmt::format("dmesg | grep -i {} may say why", card.driver));
}

SensorRefusal no_answer(const GpuCard& card, std::chrono::nanoseconds deadline) {
  return refusal_of(
      card.domain, {},
      fmt::format("the GPU did not answer within {:g} s", Seconds(deadline).count()),
      fmt::format("a read below {} is still out", card.device().string()),
      fmt::format("dmesg | grep -i {} may say why; a restart of the machine helps", card.driver));
}

}  // namespace wattle::drm
