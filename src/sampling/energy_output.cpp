// Energies in a stream.
#include <ostream>

#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "wattle/energy.hpp"
#include "wattle/refusal.hpp"

namespace wattle {

std::ostream& operator<<(std::ostream& out, Flags flags) {
  if (flags.none()) return out << "none";
  const char* before = "";
  flags.each([&](std::string_view name) {
    out << before << name;
    before = ", ";
  });
  return out;
}

std::ostream& operator<<(std::ostream& out, const MeasuredEnergy& energy) {
  if (energy.energy) {
    if (energy.unknown > Seconds(0)) out << kAtLeast;
    out << to_text(*energy.energy, energy.uncertainty);
  } else {
    out << kUnknown;
  }
  return energy.flags.none() ? out : out << " (" << energy.flags << ')';
}

std::ostream& operator<<(std::ostream& out, const AlternativeEnergy& energy) {
  out << energy.quantity << " (" << to_string(energy.method) << "): ";
  return out << MeasuredEnergy{.energy = energy.energy,
                               .uncertainty = energy.uncertainty,
                               .common = {},
                               .unknown = Seconds(0),
                               .flags = energy.flags};
}

std::ostream& operator<<(std::ostream& out, const DomainEnergy& energy) {
  return out << printable(energy.domain) << ": " << energy.energy;
}

std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
  out << refusal.subject << ": " << refusal.reason;
  return refusal.remedy.empty() ? out : out << "; " << refusal.remedy;
}

}  // namespace wattle
