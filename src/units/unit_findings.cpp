// The findings of the regressions of all domains about tags and domains.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/text/text.hpp"
#include "units/unit_book.hpp"
#include "units/unit_time.hpp"

namespace wattle::detail {

namespace {

/// Why the regression has no cost for a column; empty if it has one.
std::string doubt_about(const LoadFit& fit, std::size_t place, const UnitTags& tags) {
  const BlockFit& watts = fit.watts;
  const std::size_t n = watts.gains.size();
  if (!fit.columns[place]) return "too many tags";
  if (std::isinf(watts.inflation[place])) return "the load did not vary";
  // Seen on an H200: where two loads held each other up, a cost below 0 came out of it.
  if (fit.is_curved) return "the power is not the sum of what units cost";
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

/// The watts of two columns, over all domains.
struct Difference {
  double first = 0.0;
  double second = 0.0;
  double squares = 0.0;  ///< of the ± of their difference
  bool is_sure = true;
  [[nodiscard]] bool is_significant() const noexcept {
    return is_sure && std::abs(first - second) > std::sqrt(squares);
  }
};

/// Where a column takes no part in a domain, it costs nothing there.
Difference difference(const std::vector<LoadFit>& fits, std::uint16_t first, std::uint16_t second) {
  Difference costs;
  for (const LoadFit& fit : fits) {
    costs.is_sure = costs.is_sure && !fit.is_curved;
    std::vector<double> factors(fit.watts.gains.size(), 0.0);
    const auto add = [&](std::uint16_t column, double sign, double& sum) {
      const auto found = std::ranges::find(fit.columns, std::optional(column));
      if (found == fit.columns.end()) return;
      const auto place = static_cast<std::size_t>(found - fit.columns.begin());
      factors[place] = sign;
      sum += fit.watts.gains[place];
      costs.is_sure = costs.is_sure && fit.watts.inflation[place] <= kMostInflation;
    };
    add(first, 1.0, costs.first);
    add(second, -1.0, costs.second);
    if (factors.empty()) continue;
    const double half = fit.watts.half_width(factors);
    costs.squares += half * half;
  }
  return costs;
}

}  // namespace

UnitDomain UnitBook::domain_report(std::size_t domain, const LoadFit& fit) const {
  const DomainShares& shares = shares_[domain];
  UnitDomain report{.domain = shares.domain().name,
                    .balance = shares.balance(),
                    .idle = shares.idle(),
                    .lag = Seconds(seconds_of_ns(shares.lag_ns())),
                    .has_idle_changed = shares.has_idle_changed()};
  if (fit.watts.rows == 0) return report;
  report.is_curved = fit.is_curved;
  // A load that does not vary has no slope.
  const auto of_columns = std::span(fit.watts.inflation).first(fit.columns.size());
  if (std::ranges::none_of(of_columns, [](double inflation) { return std::isinf(inflation); })) {
    report.slope = Watts(fit.slope);
  }
  if (!report.idle) return report;
  const double idle_w = report.idle->power.si();
  const bool is_sure = std::ranges::all_of(
      fit.watts.inflation, [](double inflation) { return inflation <= kMostInflation; });
  if (is_sure && !fit.is_curved) {
    const double value = fit.watts.intercept - idle_w;
    const double half = std::hypot(fit.watts.intercept_half, report.idle->uncertainty.si());
    report.unexplained = PowerInterval{Watts(value), Watts(value - half), Watts(value + half)};
  }
  if (fit.mean_weight > 0.0) {
    report.share = Watts((fit.mean_power - idle_w) / fit.mean_weight);
  }
  return report;
}

/// The tag itself, or one of its phases.
bool UnitBook::is_of_tag(std::uint16_t column, std::uint16_t tag) const {
  return column == tag || tags_.name(column).of == tag;
}

/// Weight x seconds of a tag with its phases.
double UnitBook::weight_of_tag(std::size_t domain, std::uint16_t tag) const {
  double weight_s = 0.0;
  for (std::size_t column = 0; column < weight_s_[domain].size(); ++column) {
    if (is_of_tag(static_cast<std::uint16_t>(column), tag)) weight_s += weight_s_[domain][column];
  }
  return weight_s;
}

void UnitBook::add_fit(UnitTag& tag, std::uint16_t column, const std::vector<LoadFit>& fits) const {
  double joules = 0.0;
  double squares = 0.0;
  bool takes_part = false;
  for (std::size_t domain = 0; domain < fits.size(); ++domain) {
    if (!(weight_of_tag(domain, column) > 0.0)) continue;  // it costs nothing there
    takes_part = true;
    const LoadFit& fit = fits[domain];
    if (fit.watts.rows == 0) {
      tag.doubt = "too short";
      return;
    }
    std::vector<double> factors(fit.watts.gains.size(), 0.0);
    for (std::size_t i = 0; i < fit.columns.size(); ++i) {
      if (!fit.columns[i] || !is_of_tag(*fit.columns[i], column)) continue;
      tag.doubt = doubt_about(fit, i, tags_);
      if (!tag.doubt.empty()) return;
      factors[i] = weight_s_[domain][*fit.columns[i]] / static_cast<double>(ended_[column]);
      joules += factors[i] * fit.watts.gains[i];
    }
    if (std::ranges::all_of(factors, [](double factor) { return factor == 0.0; })) {
      tag.doubt = "too many tags";
      return;
    }
    const double half = fit.watts.half_width(factors);
    squares += half * half;
  }
  if (!takes_part) return;
  const double half = std::sqrt(squares);
  tag.fitted = EnergyInterval{Joules(joules), Joules(joules - half), Joules(joules + half)};
  if (options_.idle == IdleShare::kept && tag.mean) {
    tag.disagrees = tag.mean->high < tag.fitted->low || tag.fitted->high < tag.mean->low;
  }
}

/// Where the gains of two columns differ, over all domains.
std::vector<UnitContrast> UnitBook::contrasts(const std::vector<LoadFit>& fits) const {
  std::vector<UnitContrast> found;
  std::vector<std::uint16_t> columns;
  for (const LoadFit& fit : fits) {
    if (!fit.columns.empty() && fit.watts.rows == 0) return found;
    for (const std::optional<std::uint16_t>& column : fit.columns) {
      if (column && std::ranges::find(columns, *column) == columns.end())
        columns.push_back(*column);
    }
  }
  const auto name_of = [&](std::uint16_t column) {
    const UnitTags::Name& name = tags_.name(column);
    return name.of ? tags_.name(*name.of).name + ":" + name.name : name.name;
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = i + 1; j < columns.size(); ++j) {
      const Difference costs = difference(fits, columns[i], columns[j]);
      if (!costs.is_significant()) continue;
      found.push_back({.first = name_of(columns[i]),
                       .second = name_of(columns[j]),
                       .ratio = costs.first > 0.0 && costs.second > 0.0
                                    ? std::optional(costs.first / costs.second)
                                    : std::nullopt});
    }
  }
  return found;
}

}  // namespace wattle::detail
