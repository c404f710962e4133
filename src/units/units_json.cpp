#include "units/units_json.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json/json_fields.hpp"
#include "base/text/quantity.hpp"
#include "sampling/energy_fields.hpp"

namespace wattle {

namespace {

using Json = nlohmann::ordered_json;

// Limits for foreign records. A number beyond them is no measurement; sums could overflow.
constexpr std::size_t kMostTagsRead = 4097;  // tags and phases, and "other"
constexpr std::size_t kMostDomainsRead = 1024;
constexpr std::size_t kMostContrasts = 4096;
constexpr std::size_t kMostPlaces = 64;  // of a distribution, and groups
constexpr std::uint64_t kMostUnits = 1'000'000'000'000'000;
constexpr double kMostQuantity = 1e15;  // J, W
constexpr double kMostWork = 1e30;
constexpr double kMostUnitTime = 1e10;  // s

bool are_numbers(const Json& list) {
  return list.is_array() &&
         std::ranges::all_of(list, [](const Json& value) { return value.is_number(); });
}

bool is_unit_number(double value, double most) noexcept { return std::abs(value) <= most; }
bool is_count(std::uint64_t count) noexcept { return count <= kMostUnits; }

template <class Interval>
bool is_possible_part(const std::optional<Interval>& range) noexcept {
  if (!range) return true;
  return is_unit_number(range->low.si(), kMostQuantity) &&
         is_unit_number(range->value.si(), kMostQuantity) &&
         is_unit_number(range->high.si(), kMostQuantity) && range->low <= range->value &&
         range->value <= range->high;
}

bool is_possible_part(const UnitDistribution& found) noexcept {
  return is_count(found.none) && std::ranges::all_of(found.counts, is_count) &&
         found.counts.size() <= kMostPlaces &&
         (found.counts.empty() || (found.from.si() > 0.0 && found.from.si() <= kMostQuantity &&
                                   found.ratio > 1.0 && found.ratio <= kMostQuantity));
}

bool are_possible_groups(const std::vector<UnitGroup>& groups) noexcept {
  return groups.size() <= kMostPlaces && std::ranges::all_of(groups, [](const UnitGroup& group) {
           return group.number > 0.0 && group.number <= kMostWork && is_count(group.count) &&
                  is_unit_number(group.mean.si(), kMostQuantity);
         });
}

/// Alike, but for rounding.
bool is_same_energy(Joules one, Joules other) noexcept {
  constexpr double kRounding = 1e-6;
  const double larger = std::max(std::abs(one.si()), std::abs(other.si()));
  return std::abs(one.si() - other.si()) <= kRounding * larger + kRounding;
}

bool is_possible_part(const UnitTag& tag) noexcept {
  if (tag.mean && !is_same_energy(tag.sum, tag.mean->value * static_cast<double>(tag.count))) {
    return false;
  }
  for (const auto& range : {tag.mean, tag.median, tag.p95, tag.p99, tag.per_work, tag.fitted}) {
    if (!is_possible_part(range)) return false;
  }
  return is_count(tag.count) && is_count(tag.unknown) && tag.mean_time.count() >= 0.0 &&
         tag.mean_time.count() <= kMostUnitTime && is_unit_number(tag.sum.si(), kMostQuantity) &&
         tag.work >= 0.0 && tag.work <= kMostWork && is_possible_part(tag.distribution) &&
         are_possible_groups(tag.by_running) && are_possible_groups(tag.by_work);
}

bool is_possible_part(const UnitDomain& domain) noexcept {
  const UnitBalance& balance = domain.balance;
  for (const Joules part :
       {balance.measured, balance.units, balance.running, balance.idle, balance.without_units}) {
    if (!is_unit_number(part.si(), kMostQuantity)) return false;
  }
  const Joules parts = balance.units + balance.running + balance.idle + balance.without_units;
  if (!is_same_energy(parts, balance.measured)) return false;
  if (balance.uncertainty && !is_unit_number(balance.uncertainty->si(), kMostQuantity)) {
    return false;
  }
  for (const auto& power : {domain.share, domain.slope}) {
    if (power && !is_unit_number(power->si(), kMostQuantity)) return false;
  }
  const bool is_idle_possible =
      !domain.idle || (is_unit_number(domain.idle->power.si(), kMostQuantity) &&
                       is_unit_number(domain.idle->uncertainty.si(), kMostQuantity));
  return is_idle_possible && is_unit_number(balance.unknown.count(), kMostUnitTime) &&
         is_unit_number(domain.lag.count(), kMostUnitTime) && is_possible_part(domain.unexplained);
}

bool is_possible_part(const UnitContrast& contrast) noexcept {
  return !contrast.first.empty() && !contrast.second.empty();
}

}  // namespace

// Conversions of units' values, found by the templates of base/json/json_fields.hpp.

/// The value and its 95 % interval.
template <class Interval>
concept IsUnitInterval =
    std::same_as<Interval, EnergyInterval> || std::same_as<Interval, PowerInterval>;

template <IsUnitInterval Interval>
Json json_of(const Interval& range) {
  return Json::array({range.value.si(), range.low.si(), range.high.si()});
}

template <IsUnitInterval Interval>
void take(const Json& json, std::optional<Interval>& into) {
  if (!are_numbers(json) || json.size() != 3) return;
  Interval& range = into.emplace();
  take(json[0], range.value);
  take(json[1], range.low);
  take(json[2], range.high);
}

inline Json json_of(const UnitDistribution& found) {
  if (found.none == 0 && found.counts.empty()) return nullptr;
  return {{"none", found.none},
          {"from_j", found.from.si()},
          {"ratio", found.ratio},
          {"counts", found.counts}};
}

inline void take(const Json& json, UnitDistribution& into) {
  take_member(json, "none", into.none);
  take_member(json, "from_j", into.from);
  take_member(json, "ratio", into.ratio);
  const Json& counts = at(json, "counts");
  if (!are_numbers(counts) || counts.size() > kMostPlaces) return;
  for (const Json& count : counts) take(count, into.counts.emplace_back());
}

inline Json json_of(const std::vector<UnitGroup>& groups) {
  return json_list(groups, [](const UnitGroup& group) {
    return Json::array({group.number, group.count, group.mean.si()});
  });
}

inline void take(const Json& json, std::vector<UnitGroup>& into) {
  if (!json.is_array() || json.size() > kMostPlaces) return;
  for (const Json& group : json) {
    if (!are_numbers(group) || group.size() != 3) continue;
    UnitGroup& taken = into.emplace_back();
    take(group[0], taken.number);
    take(group[1], taken.count);
    take(group[2], taken.mean);
  }
}

template <>
inline constexpr auto kFields<UnitTag> = std::tuple(
    Field("tag", &UnitTag::tag), Field("phase", &UnitTag::phase), Field("count", &UnitTag::count),
    Field("unknown", &UnitTag::unknown), Field("mean_time_s", &UnitTag::mean_time),
    Field("sum_j", &UnitTag::sum), Field("work", &UnitTag::work), Field("mean_j", &UnitTag::mean),
    Field("median_j", &UnitTag::median), Field("p95_j", &UnitTag::p95),
    Field("p99_j", &UnitTag::p99), Field("per_work_j", &UnitTag::per_work),
    Field("is_short", &UnitTag::is_short), Field("fitted_j", &UnitTag::fitted),
    Field("doubt", &UnitTag::doubt), Field("disagrees", &UnitTag::disagrees),
    Field("distribution", &UnitTag::distribution), Field("by_running", &UnitTag::by_running),
    Field("by_work", &UnitTag::by_work));

/// With the digits that mean something; null where it is unknown.
inline constexpr auto kMeasuredUncertainty = Converted(
    "measured_uncertainty_j",
    [](const UnitBalance& balance) {
      return balance.uncertainty ? Json(with_two_digits(*balance.uncertainty).si()) : Json(nullptr);
    },
    [](const Json& json, UnitBalance& into) { take(json, into.uncertainty); });

template <>
inline constexpr auto kFields<UnitBalance> =
    std::tuple(Field("measured_j", &UnitBalance::measured), kMeasuredUncertainty,
               Field("measured_flags", &UnitBalance::flags), Field("units_j", &UnitBalance::units),
               Field("running_j", &UnitBalance::running), Field("idle_j", &UnitBalance::idle),
               Field("without_units_j", &UnitBalance::without_units),
               Field("unknown_s", &UnitBalance::unknown));

template <>
inline constexpr auto kFields<UnitIdlePower> =
    std::tuple(Field("idle_w", &UnitIdlePower::power),
               Field("idle_uncertainty_w", &UnitIdlePower::uncertainty));

/// Its name, balance and idle power stand before these in one object.
template <>
inline constexpr auto kFields<UnitDomain> = std::tuple(
    Field("has_idle_changed", &UnitDomain::has_idle_changed), Field("lag_s", &UnitDomain::lag),
    Field("unexplained_w", &UnitDomain::unexplained), Field("is_curved", &UnitDomain::is_curved),
    Field("share_w", &UnitDomain::share), Field("slope_w", &UnitDomain::slope));

template <>
inline constexpr auto kFields<UnitContrast> =
    std::tuple(Field("first", &UnitContrast::first), Field("second", &UnitContrast::second),
               Field("ratio", &UnitContrast::ratio));

namespace {

/// The numbers of a report beside its lists.
constexpr auto kCounts = std::tuple(
    Field("running", &UnitsReport::running), Field("waiting", &UnitsReport::waiting),
    Field("ended_twice", &UnitsReport::ended_twice), Field("refused", &UnitsReport::refused),
    Field("beyond_tags", &UnitsReport::beyond_tags));

Json domain_json(const UnitDomain& domain) {
  Json json = {{"domain", domain.domain}};
  add_fields(json, domain.balance, kFields<UnitBalance>);
  json["idle_w"] = nullptr;
  json["idle_uncertainty_w"] = nullptr;
  if (domain.idle) add_fields(json, *domain.idle, kFields<UnitIdlePower>);
  add_fields(json, domain, kFields<UnitDomain>);
  return json;
}

/// Where a record does not have the number: impossible, and not 0.
constexpr Joules kMissing{std::numeric_limits<double>::quiet_NaN()};

UnitTag unit_tag_of(const Json& json) {
  UnitTag tag{.sum = kMissing};
  take(json, tag);
  if (tag.count == 0) tag.sum = Joules();  // of no units
  return tag;
}

UnitDomain unit_domain_of(const Json& json) {
  UnitDomain domain{.balance = {.measured = kMissing}};
  take(json, domain);
  take(json, domain.balance);
  take_member(json, "domain", domain.domain);
  if (at(json, "idle_w").is_number()) {
    take(json, domain.idle.emplace());
    domain.idle->domain = domain.domain;
  }
  return domain;
}

UnitContrast unit_contrast_of(const Json& json) {
  UnitContrast contrast;
  take(json, contrast);
  if (contrast.ratio && !is_unit_number(*contrast.ratio, kMostQuantity)) contrast.ratio.reset();
  return contrast;
}

/// The rows that `row_of` makes of the first `most` objects of `json`, where it can.
template <class Row, class RowOf>
void take_rows(const Json& json, std::size_t most, std::vector<Row>& into, RowOf row_of) {
  for_each_object(json, [&](const Json& object) {
    if (into.size() >= most) return;
    if (Row row = row_of(object); is_possible_part(row)) into.push_back(std::move(row));
  });
}

}  // namespace

Json json_of(const UnitsReport& report) {
  Json json = {{"tags", json_of(report.tags)},
               {"domains", json_list(report.domains, domain_json)},
               {"contrasts", json_of(report.contrasts)}};
  add_fields(json, report, kCounts);
  return json;
}

void take(const Json& json, std::optional<UnitsReport>& into) {
  if (!json.is_object()) return;
  UnitsReport& report = into.emplace();
  take_fields(json, report, kCounts);
  for (std::uint64_t* const count : {&report.running, &report.waiting, &report.ended_twice,
                                     &report.refused, &report.beyond_tags}) {
    *count = std::min(*count, kMostUnits);
  }
  take_rows(at(json, "tags"), kMostTagsRead, report.tags, unit_tag_of);
  take_rows(at(json, "domains"), kMostDomainsRead, report.domains, unit_domain_of);
  take_rows(at(json, "contrasts"), kMostContrasts, report.contrasts, unit_contrast_of);
}

std::string UnitsReport::to_json() const { return dumped(json_of(*this)); }

}  // namespace wattle
