#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/known_sum.hpp"
#include "base/text/split.hpp"
#include "report/report.hpp"
#include "sampling/energy_sum.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/refusals.hpp"

namespace wattle {
namespace {

/// Why nothing of `kind` is in the total, where no domain of it was refused.
Refusal why_missing(std::string_view kind, bool has_cpu,
                    const std::vector<SensorRefusal>& refused) {
  Refusal missing{.subject = std::string(kind),
                  .reason = std::string(why_no_sensor(kind, has_cpu))};
  if (kind == "gpu") {
    const auto cause = std::ranges::find_if(refused, [](const SensorRefusal& refusal) {
      return refusal.scope == RefusalScope::interface && refusal.shows.has(DomainCategory::gpu);
    });
    if (cause != refused.end()) {
      missing.reason = cause->reason;
      missing.remedy = cause->remedy;
    }
  } else if (!has_cpu || kind != "dram") {
    // An interface that shows nothing says more than a part of one that is not understood, and a
    // daemon that somebody started or named says more than either.
    const auto weight_of = [](const SensorRefusal& refusal) {
      if (refusal.source == "daemon" && refusal.scope != RefusalScope::spare) return 2;
      return refusal.scope == RefusalScope::part ? 0 : 1;
    };
    const SensorRefusal* cause = nullptr;
    for (const SensorRefusal& refusal : refused) {
      if (refusal.domain || !refusal.shows.has(DomainCategory::cpu)) continue;
      if (cause == nullptr || weight_of(refusal) > weight_of(*cause)) cause = &refusal;
    }
    if (cause != nullptr) {
      missing.reason = cause->reason;
      missing.remedy = cause->remedy;
    }
  }
  return missing;
}

/// True if a domain of `kind` is missing in `domains`, or may be, because of `refusal`.
bool lacks(const SensorRefusal& refusal, std::string_view kind,
           const std::vector<DomainFigure>& domains) {
  if (!refusal.domain) {
    return std::ranges::any_of(refusal.hidden.kinds, [kind](DomainKind hidden) {
      return traits_of(hidden).in_total == kind;
    });
  }
  // It may be refused by one source, but read through another.
  return traits_of(*refusal.domain).in_total == kind &&
         std::ranges::count(domains, *refusal.domain, &DomainFigure::domain) == 0;
}

/// The reasons in `refused` for missing domains of `kind`, one entry per cause.
std::vector<Refusal> refused_of(std::string_view kind, const std::vector<DomainFigure>& domains,
                                const std::vector<SensorRefusal>& refused) {
  std::vector<SensorRefusal> of_kind;
  std::ranges::copy_if(refused, std::back_inserter(of_kind),
                       [&](const SensorRefusal& refusal) { return lacks(refusal, kind, domains); });
  std::vector<Refusal> missing;
  for (const SharedCause& cause : by_cause(of_kind)) {
    missing.push_back(
        {.subject = std::string(kind),
         .reason = fmt::format("{}: {}", fmt::join(cause.subjects, ", "), cause.refusal.reason),
         .remedy = cause.refusal.remedy});
  }
  return missing;
}

void add_missing(Total& total, const std::vector<DomainFigure>& domains,
                 const std::vector<SensorRefusal>& refused) {
  const auto covered = [&](std::string_view kind) {
    return std::ranges::find(total.covers, kind) != total.covers.end();
  };
  for (const std::string_view kind : kKindsInTotal) {
    std::vector<Refusal> missing = refused_of(kind, domains, refused);
    for (const DomainFigure& domain : domains) {
      if (traits_of(domain.domain).in_total != kind || domain.figure.energy) continue;
      missing.push_back({std::string(kind), fmt::format("{}: {}", domain.domain.name(),
                                                        why_unknown(domain.figure.flags))});
    }
    if (missing.empty() && !covered(kind)) {
      missing.push_back(why_missing(kind, covered("cpu"), refused));
    } else if (kind == "gpu") {
      // One vendor's are listed, or refused one by one; another's may be there too.
      for (const SensorRefusal& refusal : refused) {
        if (!hides_gpus(refusal)) continue;
        missing.push_back({.subject = std::string(kind),
                           .reason = fmt::format("{}: {}", refusal.subject, refusal.reason),
                           .remedy = refusal.remedy});
      }
    }
    std::ranges::move(missing, std::back_inserter(total.missing));
  }
}

}  // namespace

bool has_part_of(const std::vector<std::string>& covers, const Refusal& missing) {
  return std::ranges::find(covers, missing.subject) != covers.end();
}

std::string lack_of(const std::vector<std::string>& covers, const Refusal& missing) {
  return (has_part_of(covers, missing) ? "not all of " : "no ") + upper(missing.subject);
}

bool lacks_a_part(const std::vector<std::string>& covers, const std::vector<Refusal>& missing) {
  return std::ranges::any_of(missing,
                             [&](const Refusal& kind) { return has_part_of(covers, kind); });
}

bool is_lower_bound(const Total& total) {
  return total.unknown > Seconds(0) || lacks_a_part(total.covers, total.missing);
}

Total total_of(const std::vector<DomainFigure>& domains,
               const std::vector<SensorRefusal>& refused) {
  Total total;
  EnergySum sum(Seconds(0));  // of what is known alone: the rest is missing
  KnownSum<Watts> mean;
  for (const DomainFigure& domain : domains) {
    const std::string kind(traits_of(domain.domain).in_total);
    if (kind.empty() || !domain.figure.energy) continue;
    sum.add(domain.figure.measured());
    mean.add(domain.figure.mean);
    if (std::ranges::find(total.covers, kind) == total.covers.end()) total.covers.push_back(kind);
  }
  const MeasuredEnergy known = sum.result();
  total.energy = known.energy;
  total.uncertainty = known.uncertainty;
  total.common = known.common;
  total.flags = known.flags;
  total.unknown = known.unknown;
  total.mean = mean.value();
  add_missing(total, domains, refused);
  return total;
}

}  // namespace wattle
