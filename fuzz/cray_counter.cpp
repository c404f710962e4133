// Files of HPE Cray's pm_counters: the first line is a file's name, the rest what it shows.
#include <string>
#include <string_view>

#include "base/text/split.hpp"
#include "check.hpp"
#include "sensors/cray/cray.hpp"

FUZZ_TARGET(cray_counter)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  if (const auto name = cray::parse_counter_name(take_line(text))) {
    fuzz::require(Domain::custom("cray", name->part).name() == "cray_" + std::string(name->part),
                  "a part is good as a name");
  }
  const auto energy = cray::parse_stated_value(text, "J");
  const auto power = cray::parse_stated_value(text, "W");
  fuzz::require(!energy || !power, "a value has one unit");
  if (!energy) return 0;
  const std::string shown =
      std::to_string(energy->raw) + " J " + std::to_string(energy->at_us) + " us\n";
  fuzz::require(cray::parse_stated_value(shown, "J")->raw == energy->raw, "it can be shown again");
  return 0;
}
