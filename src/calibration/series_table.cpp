#include "calibration/series_table.hpp"

#include <algorithm>
#include <optional>

#include "base/numbers/median.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "sensors/domain_traits.hpp"
#include "wattle/domain.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

constexpr std::string_view kSeriesHeader = "time_unix_s,elapsed_s,domain,power_w";
/// More than any machine has.
constexpr std::size_t kMostDomains = 1024;

bool counts_in_total(const std::string& name) {
  try {
    return !traits_of(Domain::parse(name)).in_total.empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void SeriesTable::take(std::string_view line) {
  if (trimmed(line).starts_with(kSeriesHeader)) return;
  const bool is_good = take_row(line);
  count_row(is_good);
  if (is_good) return;
  note_bad([] { return "it is no row of wattle run --series"; });
}

bool SeriesTable::take_row(std::string_view line) {
  const auto time_s = parse_double(take_until(line, ','));
  const auto elapsed_s = parse_double(take_until(line, ','));
  const std::string name(take_until(line, ','));
  const std::string_view power = take_until(line, ',');
  const auto power_w = parse_double(power);
  if (!time_s || !elapsed_s || name.empty() || name != printable(name)) return false;
  if (!power.empty() && (!power_w || *power_w < 0.0)) return false;
  if (const auto use = parse_double(take_until(line, ','))) {
    use_percent_[name].add(*use);
  }
  if (name == "host") return true;
  if (values_.size() >= kMostDomains && !values_.contains(name)) return false;
  values_[name].push_back({.time_s = *time_s, .elapsed_s = *elapsed_s, .power_w = power_w});
  return true;
}

PowerCurve SeriesTable::curve_of(const std::vector<SeriesValue>& values) {
  std::vector<double> spacings;
  for (std::size_t i = 1; i < values.size(); ++i) {
    spacings.push_back(values[i].time_s - values[i - 1].time_s);
  }
  if (spacings.empty()) return {};
  constexpr double kLate = 3.0;
  const double usual_s = upper_median(spacings);
  std::vector<PowerStep> steps;
  double before_s = values.front().time_s - values.front().elapsed_s;
  for (const SeriesValue& value : values) {
    const bool is_late = value.time_s - before_s > kLate * usual_s || value.time_s <= before_s;
    // After a pause, or in another run, a row is the mean of its interval, which is unknown.
    const double begin_s = is_late ? value.time_s - usual_s : before_s;
    before_s = value.time_s;
    if (value.power_w) steps.push_back({begin_s, value.time_s, *value.power_w});
  }
  return PowerCurve(std::move(steps));
}

std::vector<RecordedDomainPower> SeriesTable::domains() const {
  constexpr double kLeastUse = 5.0;  // percent
  std::vector<RecordedDomainPower> domains;
  for (const auto& [name, values] : values_) {
    if (!counts_in_total(name)) continue;
    RecordedDomainPower& domain = domains.emplace_back();
    domain.name = name;
    domain.power = curve_of(values);
    const auto use = use_percent_.find(name.starts_with("package_") ? "host" : name);
    if (use != use_percent_.end()) {
      domain.was_used = use->second.width() > kLeastUse;
    }
  }
  return domains;
}

std::vector<std::string> SeriesTable::left_out() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : values_) {
    if (!counts_in_total(name)) names.push_back(name);
  }
  return names;
}

}  // namespace wattle
