// What the regressions of all domains say about tags and domains.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/text/text.hpp"
#include "units/unit_book.hpp"

namespace wattle::detail {

namespace {

/// Why the regression has no cost for a column; empty if it has one.
std::string doubt_about(const LoadFit& fit, std::size_t place, const UnitTags& tags) {
  const BlockFit& watts = fit.watts;
  const std::size_t n = watts.gains.size();
  if (!fit.columns[place]) return "too many tags";
  if (std::isinf(watts.inflation[place])) return "the load did not vary";
  if (watts.inflation[place] <= kMostInflation) return {};
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < fit.columns.size(); ++i) {
    if (i == place) continue;
    const auto size = [&](std::size_t j) { return std::abs(watts.correlation[place * n + j]); };
    if (!nearest || size(i) > size(*nearest)) nearest = i;
  }
  if (!nearest || !fit.columns[*nearest]) return "cannot be separated";
  return "cannot be separated from " + printable(tags.name(*fit.columns[*nearest]).name);
}

}  // namespace

UnitDomain UnitBook::domain_report(std::size_t domain, const LoadFit& fit) const {
  const DomainShares& shares = shares_[domain];
  UnitDomain report{.domain = shares.domain().name,
                    .balance = shares.balance(),
                    .idle = shares.idle(),
                    .lag = Seconds(static_cast<double>(shares.lag_ns()) * 1e-9),
                    .has_idle_changed = shares.has_idle_changed()};
  if (fit.watts.rows == 0) return report;
  const double idle_w = report.idle ? report.idle->power.si() : 0.0;
  const double idle_half = report.idle ? report.idle->uncertainty.si() : 0.0;
  const bool is_sure = std::ranges::all_of(
      fit.watts.inflation, [](double inflation) { return inflation <= kMostInflation; });
  if (is_sure && !fit.is_curved) {
    const double value = fit.watts.intercept - idle_w;
    const double half = std::hypot(fit.watts.intercept_half, idle_half);
    report.unexplained = PowerInterval{Watts(value), Watts(value - half), Watts(value + half)};
  }
  report.is_curved = fit.is_curved;
  report.slope = Watts(fit.slope);
  if (fit.mean_weight > 0.0 && report.idle) {
    report.share = Watts((fit.mean_power - idle_w) / fit.mean_weight);
  }
  return report;
}

void UnitBook::add_fit(UnitTag& tag, std::uint16_t column, const std::vector<LoadFit>& fits) const {
  double joules = 0.0;
  double squares = 0.0;
  for (std::size_t domain = 0; domain < fits.size(); ++domain) {
    const LoadFit& fit = fits[domain];
    if (fit.watts.rows == 0) {
      tag.doubt = "too short";
      return;
    }
    std::vector<double> factors(fit.watts.gains.size(), 0.0);
    const auto all_of_tag = [&](std::uint16_t other) {
      return other == column || tags_.name(other).of == column;
    };
    for (std::size_t i = 0; i < fit.columns.size(); ++i) {
      if (!fit.columns[i] || !all_of_tag(*fit.columns[i])) continue;
      tag.doubt = doubt_about(fit, i, tags_);
      if (!tag.doubt.empty()) return;
      const auto ended = static_cast<double>(tag.count + tag.unknown);
      factors[i] = weight_s_[domain][*fit.columns[i]] / ended;
      joules += factors[i] * fit.watts.gains[i];
    }
    if (std::ranges::all_of(factors, [](double factor) { return factor == 0.0; })) {
      tag.doubt = "too many tags";
      return;
    }
    const double half = fit.watts.half_width(factors);
    squares += half * half;
  }
  if (fits.empty()) return;
  const double half = std::sqrt(squares);
  tag.fitted = EnergyInterval{Joules(joules), Joules(joules - half), Joules(joules + half)};
  if (options_.idle == IdleShare::kept && tag.mean) {
    tag.disagrees = tag.mean->high < tag.fitted->low || tag.fitted->high < tag.mean->low;
  }
}

/// Where the gains of two columns differ, over all domains.
std::vector<UnitContrast> UnitBook::contrasts(const std::vector<LoadFit>& fits) const {
  std::vector<UnitContrast> found;
  if (fits.empty()) return found;
  for (const LoadFit& fit : fits) {
    if (fit.watts.rows == 0 || fit.columns != fits.front().columns) return found;
  }
  const std::vector<std::optional<std::uint16_t>>& columns = fits.front().columns;
  const auto name_of = [&](std::uint16_t column) {
    const UnitTags::Name& name = tags_.name(column);
    return name.of ? tags_.name(*name.of).name + ":" + name.name : name.name;
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = i + 1; j < columns.size(); ++j) {
      double first = 0.0;
      double second = 0.0;
      double squares = 0.0;
      bool is_sure = columns[i] && columns[j];
      for (const LoadFit& fit : fits) {
        std::vector<double> factors(fit.watts.gains.size(), 0.0);
        factors[i] = 1.0;
        factors[j] = -1.0;
        const double half = fit.watts.half_width(factors);
        squares += half * half;
        first += fit.watts.gains[i];
        second += fit.watts.gains[j];
        is_sure = is_sure && fit.watts.inflation[i] <= kMostInflation &&
                  fit.watts.inflation[j] <= kMostInflation;
      }
      if (!is_sure || std::abs(first - second) <= std::sqrt(squares)) continue;
      found.push_back({.first = name_of(*columns[i]),
                       .second = name_of(*columns[j]),
                       .ratio = second > 0.0 ? first / second : 0.0});
    }
  }
  return found;
}

}  // namespace wattle::detail
