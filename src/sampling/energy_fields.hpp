// Energies in JSON: the keys that every report shares.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json/enum_table.hpp"
#include "base/json/json_fields.hpp"
#include "sensors/sensor.hpp"
#include "wattle/energy.hpp"

namespace wattle {

[[nodiscard]] inline nlohmann::ordered_json json_of(Flags flags) {
  auto names = nlohmann::ordered_json::array();
  flags.each([&](std::string_view name) { names.push_back(name); });
  return names;
}
/// Names that are no flag of this version are left out.
inline void take(const nlohmann::ordered_json& json, Flags& into) {
  std::vector<std::string> names;
  take(json, names);
  for (const std::string& name : names) {
    if (const auto flag = enumerator_of<Flag>(kFlagNames, name)) into.set(*flag);
  }
}

[[nodiscard]] inline nlohmann::ordered_json json_of(Method method) { return to_string(method); }
inline void take(const nlohmann::ordered_json& json, Method& into) {
  for (const Method method : {Method::counter, Method::integrated, Method::estimated}) {
    if (json == to_string(method)) into = method;
  }
}

/// The metric's own name, which lives as long as the program.
[[nodiscard]] inline std::string_view quantity_of(const nlohmann::ordered_json& json) {
  for (const Metric metric : {Metric::power_instant, Metric::power_average}) {
    if (json == to_string(metric)) return to_string(metric);
  }
  return to_string(Metric::energy);
}

inline constexpr auto kQuantityField = Converted(
    "quantity", [](const auto& energy) { return energy.quantity; },
    [](const nlohmann::ordered_json& json, auto& into) { into.quantity = quantity_of(json); });

/// An uncertainty beside an energy: with the digits that mean something, null where there is no
/// energy.
template <class T>
struct UncertaintyField {
  const char* key;
  std::optional<Joules> T::*energy;
  Joules T::*uncertainty;
  Joules T::*if_missing = nullptr;  ///< is read in place of a missing one; null: nothing is

  void write(nlohmann::ordered_json& json, const T& object) const {
    json[key] = uncertainty_or_null(object.*energy, object.*uncertainty);
  }
  void read(const nlohmann::ordered_json& json, T& into) const {
    if (if_missing != nullptr) into.*uncertainty = into.*if_missing;
    take(at(json, key), into.*uncertainty);
  }
};

template <>
inline constexpr auto kFields<AlternativeEnergy> =
    std::tuple(Field("method", &AlternativeEnergy::method), kQuantityField,
               Field("energy_j", &AlternativeEnergy::energy),
               UncertaintyField<AlternativeEnergy>{"uncertainty_j", &AlternativeEnergy::energy,
                                                   &AlternativeEnergy::uncertainty},
               Field("flags", &AlternativeEnergy::flags));

/// The energy of a domain as the public interface has it. The part of its uncertainty that comes
/// back is not in it.
template <>
inline constexpr auto kFields<DomainEnergy> = std::tuple(
    Field("name", &DomainEnergy::domain),
    Flattened(&DomainEnergy::energy,
              std::tuple(Field("energy_j", &MeasuredEnergy::energy),
                         UncertaintyField<MeasuredEnergy>{"uncertainty_j", &MeasuredEnergy::energy,
                                                          &MeasuredEnergy::uncertainty},
                         Field("unknown_s", &MeasuredEnergy::unknown),
                         Field("method", &BestEnergy::method), kQuantityField)),
    Field("source", &DomainEnergy::source),
    Flattened(&DomainEnergy::energy, std::tuple(Field("coverage", &BestEnergy::coverage),
                                                Field("alternatives", &BestEnergy::alternatives))),
    Field("contained_in", &DomainEnergy::contained_in),
    Flattened(&DomainEnergy::energy, std::tuple(Field("flags", &MeasuredEnergy::flags))));

}  // namespace wattle
