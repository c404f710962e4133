// Directory names and names of powercap zones.
#include <algorithm>
#include <cctype>
#include <string>

#include "check.hpp"
#include "sensors/cpu_zones.hpp"

FUZZ_TARGET(powercap_zone)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);

  if (const auto id = parse_zone_id(text)) {
    fuzz::require(text.starts_with(id->control) && fuzz::is_clean(text), "an id is plain text");
    const std::string least = std::string(id->control) + ":" + std::to_string(id->zone) +
                              (id->sub ? ":" + std::to_string(*id->sub) : "");
    fuzz::require(text.size() >= least.size(), "an id holds its numbers");
  }
  if (const auto domain = parse_top_zone_name(text)) {
    const bool on_top = domain->kind() == DomainKind::package || domain->kind() == DomainKind::psys;
    fuzz::require(on_top, "packages and the platform are on top");
    fuzz::require(fuzz::is_clean(domain->name()), "a domain's name is clean");
  }
  if (const auto kind = parse_sub_zone_name(text)) {
    fuzz::require(to_string(*kind) == text, "a part is called as it is");
  }
  return 0;
}
