// The keys of estimates and shares in JSON.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "base/json/json_fields.hpp"
#include "report/share.hpp"
#include "sampling/energy_fields.hpp"
#include "sensors/domain_json.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

template <>
inline constexpr auto kFields<EnergyRange> =
    std::tuple(Field("low_j", &EnergyRange::low), Field("typical_j", &EnergyRange::typical),
               Field("high_j", &EnergyRange::high));

/// The keys of a range, in the object of what it belongs to: null where `find(object)` is null.
/// `make(into)` is where it is read.
template <class Find, class Make>
struct RangeFields {
  Find find;
  Make make;

  template <class T>
  void write(nlohmann::ordered_json& json, const T& object) const {
    for (const char* const key : {"low_j", "typical_j", "high_j"}) json[key] = nullptr;
    if (const EnergyRange* range = find(object)) add_fields(json, *range, kFields<EnergyRange>);
  }
  template <class T>
  void read(const nlohmann::ordered_json& json, T& into) const {
    if (at(json, "low_j").is_number()) take(json, make(into));
  }
};
template <class Find, class Make>
RangeFields(Find, Make) -> RangeFields<Find, Make>;

/// A part of one, in percent.
constexpr auto percent_field(const char* key, double EnergyEstimate::*part) {
  return Converted(
      key, [part](const EnergyEstimate& estimate) { return estimate.*part * 100.0; },
      [part](const nlohmann::ordered_json& json, EnergyEstimate& into) {
        if (json.is_number()) into.*part = json.get<double>() / 100.0;
      });
}

template <>
inline constexpr auto kFields<EnergyEstimate> = std::tuple(
    RangeFields([](const EnergyEstimate& of) { return of.machine ? &*of.machine : nullptr; },
                [](EnergyEstimate& into) -> EnergyRange& { return into.machine.emplace(); }),
    Field("unknown", &EnergyEstimate::unknown), Field("method", &EnergyEstimate::method),
    Field("basis", &EnergyEstimate::basis), Field("covers", &EnergyEstimate::covers),
    Field("excludes", &EnergyEstimate::excludes), Field("command", &EnergyEstimate::own),
    Field("microarchitecture", &EnergyEstimate::microarchitecture),
    Field("recognized_by", &EnergyEstimate::recognized_by),
    Field("microarchitecture_known", &EnergyEstimate::is_known),
    Field("machines", &EnergyEstimate::machines), Field("threads", &EnergyEstimate::threads),
    Field("cpu_quota", &EnergyEstimate::cpu_quota),
    percent_field("mean_load_percent", &EnergyEstimate::mean_load),
    percent_field("stolen_percent", &EnergyEstimate::stolen_part),
    Field("virtual_machine", &EnergyEstimate::is_virtual));

/// Without the domain, which comes first.
inline constexpr auto kGpuShareItems = std::tuple(
    Field("measured_j", &GpuShare::measured),
    Field("measured_uncertainty_j", &GpuShare::uncertainty),
    Field("measured_flags", &GpuShare::flags),
    Flattened(&GpuShare::command, std::tuple(Field("low_j", &EnergyRange::low))),
    Converted(
        "typical_j",
        [](const GpuShare& gpu) {
          return or_null(gpu.is_known ? std::optional(gpu.command.typical) : std::nullopt);
        },
        [](const nlohmann::ordered_json& json, GpuShare& into) {
          into.is_known = json.is_number();
          take(json, into.command.typical);
        }),
    Flattened(&GpuShare::command, std::tuple(Field("high_j", &EnergyRange::high))),
    Field("basis", &GpuShare::basis));

/// A part of the balance, which is kept in whole nanojoules.
template <class Nanojoules>
struct BalanceField {
  const char* key;
  Nanojoules ShareBalance::*part;

  void write(nlohmann::ordered_json& json, const EnergyShare& share) const {
    json[key] = nullptr;
    if (!share.balance) return;
    const std::optional<std::int64_t> nanojoules = (*share.balance).*part;
    if (nanojoules) json[key] = static_cast<double>(*nanojoules) / 1e9;
  }
  void read(const nlohmann::ordered_json& json, EnergyShare& into) const {
    constexpr double kMostJoules = 9e9;  // what 64 bits of nanojoules hold
    const auto& joules = at(json, key);
    if (!joules.is_number() || std::abs(joules.template get<double>()) > kMostJoules) return;
    if (!into.balance) into.balance.emplace();
    (*into.balance).*part = std::llround(joules.template get<double>() * 1e9);
  }
};
template <class Nanojoules>
BalanceField(const char*, Nanojoules ShareBalance::*) -> BalanceField<Nanojoules>;

template <>
inline constexpr auto kFields<EnergyShare> = std::tuple(
    RangeFields([](const EnergyShare& of) { return of.balance ? &of.balance->command : nullptr; },
                [](EnergyShare& into) -> EnergyRange& { return into.balance.emplace().command; }),
    Field("unknown", &EnergyShare::unknown),
    Derived("method", [](const EnergyShare& /*share*/) { return "cpu_time"; }),
    Derived("basis",
            [](const EnergyShare& /*share*/) {
              return "CPU times of the command and of everything else, power above idle as a "
                     "function of the load";
            }),
    Field("covers", &EnergyShare::covers), BalanceField("measured_j", &ShareBalance::measured_nj),
    Field("measured_uncertainty_j", &EnergyShare::uncertainty),
    Field("measured_flags", &EnergyShare::flags), BalanceField("idle_j", &ShareBalance::idle_nj),
    BalanceField("command_j", &ShareBalance::command_nj),
    BalanceField("others_j", &ShareBalance::others_nj),
    BalanceField("unexplained_j", &ShareBalance::unexplained_nj),
    Field("idle_basis", &EnergyShare::idle_basis),
    Field("idle_unknown", &EnergyShare::idle_unknown),
    Converted(
        "below_idle",
        [](const EnergyShare& share) {
          return or_null(share.balance ? std::optional(share.balance->is_below_idle)
                                       : std::nullopt);
        },
        [](const nlohmann::ordered_json& json, EnergyShare& into) {
          if (into.balance) take(json, into.balance->is_below_idle);
        }),
    Converted(
        "gpus",
        [](const EnergyShare& share) {
          return list_of(share.gpus, std::tuple_cat(kDomainItem, kGpuShareItems));
        },
        [](const nlohmann::ordered_json& json, EnergyShare& into) {
          take_of_domains(json, "domain", into.gpus, kGpuShareItems);
        }));

}  // namespace wattle
