// The text of a PCI device's uevent.
#include "check.hpp"
#include "sensors/drm/card.hpp"

FUZZ_TARGET(drm_uevent)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const drm::PciDevice device = drm::parse_uevent(fuzz::text_of(data, size));
  for (const std::string_view value : {device.driver, device.ids, device.address}) {
    fuzz::require(value.find('\n') == std::string_view::npos, "a value ends with its line");
  }
  return 0;
}
