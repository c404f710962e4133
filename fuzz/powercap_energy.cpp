// Counters of powercap: the first line is a zone's range, the rest what its counter shows.
#include <cstdint>
#include <string_view>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "check.hpp"
#include "sensors/powercap/counter_sensor.hpp"

FUZZ_TARGET(powercap_energy)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  const auto range = parse_unsigned<std::uint64_t>(take_line(text));
  const powercap::TickScale scale = powercap::identify_scale(range);
  fuzz::require(scale.tick.si() >= 1e-6 && scale.tick.si() <= 1.0, "a tick is 1 uJ to 1 J");

  const auto ticks = powercap::parse_energy(text, scale);
  if (!ticks) return 0;
  fuzz::require(scale.modulus == 0 || *ticks < scale.modulus, "ticks are below the modulus");
  const std::uint64_t energy_uj = parse_counter(text).value();
  const auto shown = [&](std::uint64_t count) {
    return count * scale.numerator / scale.denominator;
  };
  fuzz::require(shown(*ticks) >= energy_uj, "so many ticks show that energy");
  fuzz::require(*ticks == 0 || shown(*ticks - 1) < energy_uj, "and no fewer");
  return 0;
}
