#include "sensors/drm/card.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle::drm {
namespace {

namespace fs = std::filesystem;

/// Numbered cards alone: connectors ("card0-DP-1") and render nodes show the same devices again.
bool is_card(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "card";
  return name.starts_with(kPrefix) &&
         parse_unsigned<std::uint32_t>(name.substr(kPrefix.size())).has_value();
}

/// 0 for what is not there: nothing is amiss.
int grave(int error) noexcept { return error == ENOENT ? 0 : error; }

Card read_card(const fs::path& folder) {
  const auto uevent = read_file((folder / "device/uevent").string(), 4096);
  const int error = uevent ? 0 : grave(errno);
  const PciDevice device = parse_uevent(uevent ? std::string_view(*uevent) : std::string_view());
  return {.name = folder.filename().string(),
          .folder = folder,
          .driver = printable(device.driver),
          .ids = lower(printable(device.ids)),
          .pci_address = lower(printable(device.address)),
          .error = error};
}

std::optional<DomainKind> kind_of(const Card& card) {
  if (card.pci_address.empty()) return std::nullopt;  // a partition of a GPU that is listed itself
  if (card.driver == "amdgpu") return DomainKind::amd_gpu;
  if (card.driver == "i915" || card.driver == "xe") return DomainKind::intel_gpu;
  return std::nullopt;
}

}  // namespace

PciDevice parse_uevent(std::string_view text) noexcept {
  PciDevice device;
  while (!text.empty()) {
    std::string_view value = take_line(text);
    const std::string_view key = take_key(value, '=');
    if (key == "DRIVER") device.driver = value;
    if (key == "PCI_ID") device.ids = value;
    if (key == "PCI_SLOT_NAME") device.address = value;
  }
  return device;
}

bool GpuCard::is_integrated_intel() const {
  return domain.kind() == DomainKind::intel_gpu && pci_address.starts_with(kProcessorBus);
}

Cards find_cards(const System& system) {
  const fs::path folder = system.sysfs / "class" / "drm";
  Cards cards;
  std::vector<Card> all;
  const auto [names, error] = list_folder(folder.string());
  cards.error = grave(error);
  for (const std::string& name : names) {
    if (is_card(name)) all.push_back(read_card(folder / name));
  }
  // Lengths differ in the digits of the PCI domain: the longer text is the larger number.
  std::ranges::sort(all, {}, [](const Card& card) {
    return std::tuple(card.pci_address.size(), card.pci_address, card.name);
  });
  std::uint32_t amd = 0;
  std::uint32_t intel = 0;
  for (Card& card : all) {
    const std::optional<DomainKind> kind = kind_of(card);
    if (kind == DomainKind::amd_gpu) {
      cards.gpus.push_back({std::move(card), Domain::amd_gpu(amd++)});
    } else if (kind == DomainKind::intel_gpu) {
      cards.gpus.push_back({std::move(card), Domain::intel_gpu(intel++)});
    } else {
      cards.others.push_back(std::move(card));
    }
  }
  return cards;
}

fs::path find_hwmon(const Card& card) {
  const fs::path folder = card.device() / "hwmon";
  for (const std::string& name : list_folder(folder.string()).names) {
    // i915 has others, "i915_gt0", for parts of the GPU.
    if (read_line((folder / name / "name").string()) == card.driver) return folder / name;
  }
  return {};
}

std::vector<std::string> find_nodes(const Card& card) {
  return list_folder((card.device() / "drm").string()).names;
}

}  // namespace wattle::drm
