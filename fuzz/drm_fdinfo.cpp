// The text of /proc/PID/fdinfo/N.
#include <string>

#include "check.hpp"
#include "sensors/drm/fdinfo.hpp"

FUZZ_TARGET(drm_fdinfo)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  const drm::ClientUsage usage = drm::parse_fdinfo(text);
  fuzz::require(usage.pci_address.find_first_of(" \t\r\n") == std::string_view::npos,
                "an address is a word");
  fuzz::require(!usage.engine_time || usage.engine_time->count() >= 0, "no time is negative");

  // Lines that mean nothing here change nothing.
  const std::string longer = std::string(text) + "\npos:\t0\ndrm-purgeable-vram:\t1 KiB\n";
  const drm::ClientUsage again = drm::parse_fdinfo(longer);
  fuzz::require(again.memory_bytes == usage.memory_bytes && again.client_id == usage.client_id &&
                    again.engine_time == usage.engine_time,
                "other keys are left alone");
  // What lies there now counts before anything else that is told.
  const std::string unknown = longer + "drm-resident-vram9:\t1 GB\n";
  fuzz::require(!drm::parse_fdinfo(unknown).memory_bytes, "a sum with an unknown part is unknown");
  return 0;
}
