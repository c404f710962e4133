#include "energy/handlers/sample_details.hpp"

#include <algorithm>
#include <vector>

#include "base/log.hpp"
#include "base/text/python_repr.hpp"
#include "base/text/text.hpp"
#include "energy/micro_joules.hpp"

namespace wattle {

void append_sample_details(std::string& out, const MeasuredEnergy& energy,
                           std::string_view between) {
  append_micro_joules(out, uncertainty_micro_joules(energy), "");
  out += between;
  append_python_repr(out, energy.unknown.count());
  out += between;
  bool is_first = true;
  energy.flags.each([&](std::string_view name) {
    if (!is_first) out += ' ';
    out += name;
    is_first = false;
  });
}

void warn_of_lower_bounds(const EnergyTrace& trace, std::string_view destination) {
  std::size_t count = 0;
  std::vector<std::string> domains;
  for (const EnergySample& sample : trace) {
    for (std::size_t i = 0; i < sample.energies().size(); ++i) {
      if (!sample.energies()[i].energy || sample.is_complete(i)) continue;
      ++count;
      const std::string& domain = (*sample.domains())[i];
      if (std::ranges::find(domains, domain) == domains.end()) domains.push_back(domain);
    }
  }
  if (count == 0) return;
  const std::string names =
      joined(domains, ", ", [](const std::string& domain) { return printable(domain); });
  log(std::to_string(count) + (count == 1 ? " energy for " : " energies for ") +
      printable(destination) +
      (count == 1 ? " is a lower bound and was" : " are lower bounds and were") + " left out (" +
      names + "); with SampleDetails{.details = true} they are written");
}

}  // namespace wattle
