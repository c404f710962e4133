#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace wattle {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"cpu", "dram", "gpu"};

/// The part of a total that a domain belongs to; empty for those that overlap others.
std::string_view kind_in_total(DomainKind kind) noexcept {
  if (!counts_in_total(kind)) return {};
  if (kind == DomainKind::package) return kKinds[0];
  return kind == DomainKind::dram ? kKinds[1] : kKinds[2];
}

/// Why nothing of `kind` is in the total.
std::string why_missing(std::string_view kind, bool has_cpu, const std::vector<Refusal>& refused) {
  if (kind == "gpu") return "this version of Wattle does not read GPUs";
  if (has_cpu && kind == "dram") return "this processor has no counter for its memory";
  const auto whole = std::ranges::find_if(refused, [](const Refusal& r) { return !r.domain; });
  return whole != refused.end() ? whole->reason : "no sensor was found";
}

void add_missing(Total& total, const std::vector<DomainEnergy>& domains,
                 const std::vector<Refusal>& refused) {
  const auto covered = [&](std::string_view kind) {
    return std::ranges::find(total.covers, kind) != total.covers.end();
  };
  for (const std::string_view kind : kKinds) {
    bool explained = false;
    for (const Refusal& refusal : refused) {
      if (!refusal.domain || kind_in_total(refusal.domain->kind()) != kind) continue;
      // Refused by one source, but read through another.
      if (std::ranges::count(domains, *refusal.domain, &DomainEnergy::domain) > 0) continue;
      total.missing.push_back({std::string(kind), refusal.subject + ": " + refusal.reason});
      explained = true;
    }
    for (const DomainEnergy& domain : domains) {
      if (kind_in_total(domain.domain.kind()) != kind || domain.figure.energy) continue;
      total.missing.push_back({std::string(kind), domain.domain.name() + ": its sensor failed"});
      explained = true;
    }
    if (!explained && !covered(kind)) {
      total.missing.push_back({std::string(kind), why_missing(kind, covered("cpu"), refused)});
    }
  }
}

}  // namespace

Total total_of(const std::vector<DomainEnergy>& domains, const std::vector<Refusal>& refused) {
  Total total;
  double variance = 0.0;
  Watts mean;
  bool mean_known = true;
  for (const DomainEnergy& domain : domains) {
    const std::string kind(kind_in_total(domain.domain.kind()));
    if (kind.empty() || !domain.figure.energy) continue;
    total.energy = total.energy.value_or(Joules(0.0)) + *domain.figure.energy;
    mean_known = mean_known && domain.figure.mean;
    mean += domain.figure.mean.value_or(Watts(0.0));
    total.unknown = std::max(total.unknown, domain.figure.unknown);
    variance += domain.figure.uncertainty.si() * domain.figure.uncertainty.si();
    if (std::ranges::find(total.covers, kind) == total.covers.end()) total.covers.push_back(kind);
  }
  total.uncertainty = Joules(std::sqrt(variance));
  if (total.energy && mean_known) total.mean = mean;
  add_missing(total, domains, refused);
  return total;
}

}  // namespace wattle
