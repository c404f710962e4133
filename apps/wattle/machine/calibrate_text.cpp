#include "machine/calibrate_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json/json_write.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

/// To four significant digits, as they are read.
double shortened(double value) {
  if (value == 0.0 || !std::isfinite(value)) return 0.0;
  const double scale = std::pow(10.0, 3.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json number_json(const std::optional<CalibratedNumber>& number) {
  return number ? Json(shortened(number->value)) : Json(nullptr);
}
Json uncertainty_json(const std::optional<CalibratedNumber>& number) {
  return number ? Json(shortened(number->uncertainty)) : Json(nullptr);
}

std::optional<double> known_percent(const CalibrationReport& report,
                                    const CalibratedDomain& domain) {
  if (!report.calibration.problem.empty()) return std::nullopt;
  return sensor_error_percent(domain, report.efficiency);
}

Json domain_json(const CalibrationReport& report, const CalibratedDomain& domain) {
  const auto percent = known_percent(report, domain);
  return {{"name", domain.name},
          {"verdict", to_string(domain.verdict)},
          {"fault", text_or_null(to_string(domain.fault))},
          {"reason", text_or_null(domain.reason)},
          {"gain", number_json(domain.gain)},
          {"gain_uncertainty", uncertainty_json(domain.gain)},
          {"lag_s", number_json(domain.lag_s)},
          {"lag_uncertainty_s", uncertainty_json(domain.lag_s)},
          {"calibration_percent", percent ? Json(shortened(*percent)) : Json(nullptr)}};
}

std::string gain_text(const CalibratedDomain& domain) {
  if (!domain.gain) return std::string(kUnknownCell);
  return fmt::format("{:.4g} ±{:.2g}", domain.gain->value, domain.gain->uncertainty);
}

std::string lag_text(const CalibratedDomain& domain) {
  if (!domain.lag_s) return std::string(kUnknownCell);
  return fmt::format("{:.2f} ±{:.2f} s", domain.lag_s->value, domain.lag_s->uncertainty);
}

std::string rows_text(const CalibrationReport& report) {
  std::string text =
      fmt::format("{:<16}{:<11}{:<16}{:<15}{}\n", "sensor", "verdict", "gain", "lag", "sensor ±");
  for (const CalibratedDomain& domain : report.calibration.domains) {
    const auto percent = known_percent(report, domain);
    text += fmt::format(
        "{:<16}{:<11}{:<16}{:<15}{}\n", domain.name, to_string(domain.verdict), gain_text(domain),
        lag_text(domain),
        percent ? fmt::format("{:.2g} %", std::ceil(*percent)) : std::string(kUnknownCell));
    if (!domain.reason.empty()) text += fmt::format("  {}\n", domain.reason);
  }
  return text;
}

std::string clock_text(const CalibrationReport& report) {
  const MeterTiming& timing = report.calibration.timing;
  std::string text = "meter: ";
  if (report.has_start) {
    text += fmt::format("its clock is {:.2f} s {}, ", std::abs(timing.shift_s),
                        timing.shift_s < 0.0 ? "behind" : "ahead");
  }
  text += fmt::format("a row every {:.3g} s", report.calibration.period_s);
  if (timing.lag_s > 0.0) text += fmt::format(", a filter of {:.2g} s", timing.lag_s);
  return text +
         fmt::format("; {:.1f} % of its changes explained\n", 100.0 * report.calibration.explained);
}

}  // namespace

bool has_disagreement(const MeterCalibration& calibration) noexcept {
  return std::ranges::any_of(calibration.domains, [](const CalibratedDomain& domain) {
    return domain.verdict == SensorVerdict::disagrees;
  });
}

std::string calibration_text(const CalibrationReport& report) {
  const MeterCalibration& found = report.calibration;
  std::string text = fmt::format("{} of {} over {}\n", counted(found.rows, "row"),
                                 printable(report.meter), to_text(Seconds(found.length_s)));
  text += clock_text(report) + "\n" + rows_text(report) + "\n";
  if (found.offset_w) {
    text +=
        fmt::format("offset {}: what no sensor covers\n",
                    rounded_text(Watts(found.offset_w->value), Watts(found.offset_w->uncertainty)) +
                        fmt::format(" ±{:.2g} W", found.offset_w->uncertainty));
  }
  if (found.total_j) {
    text += fmt::format("total  {} at the meter, of {}\n",
                        to_text(Joules(found.total_j->value), Joules(found.total_j->uncertainty)),
                        joined(found.total_of, ", "));
  }
  if (!report.overlapping.empty()) {
    text +=
        fmt::format("not compared, as they overlap others: {}\n", joined(report.overlapping, ", "));
  }
  if (!report.efficiency.is_stated) {
    text +=
        "sensor ± allows for a power supply of 75 to 100 % efficiency; --efficiency narrows it\n";
  }
  if (!report.kept.empty()) text += fmt::format("kept in {}\n", printable(report.kept));
  return text;
}

std::string calibration_json(const CalibrationReport& report) {
  const MeterCalibration& found = report.calibration;
  Json domains = Json::array();
  for (const CalibratedDomain& domain : found.domains) {
    domains.push_back(domain_json(report, domain));
  }
  const bool is_found = found.problem.empty();
  const auto or_unknown = [is_found](double value) {
    return is_found ? Json(shortened(value)) : Json(nullptr);
  };
  const Json json = {
      {"schema", "wattle.calibrate/1"},
      {"meter", printable(report.meter)},
      {"column", text_or_null(printable(report.column))},
      {"problem", text_or_null(found.problem)},
      {"rows", found.rows},
      {"length_s", found.length_s},
      {"meter_period_s", or_unknown(found.period_s)},
      {"meter_shift_s",
       is_found && report.has_start ? Json(shortened(found.timing.shift_s)) : Json(nullptr)},
      {"meter_window_s", or_unknown(found.timing.window_s)},
      {"meter_lag_s", or_unknown(found.timing.lag_s)},
      {"explained", or_unknown(found.explained)},
      {"efficiency", {report.efficiency.least, report.efficiency.most}},
      {"offset_w", number_json(found.offset_w)},
      {"offset_uncertainty_w", uncertainty_json(found.offset_w)},
      {"common_gain", number_json(found.common_gain)},
      {"common_gain_uncertainty", uncertainty_json(found.common_gain)},
      {"total_j", number_json(found.total_j)},
      {"total_uncertainty_j", uncertainty_json(found.total_j)},
      {"total_of", found.total_of},
      {"domains", std::move(domains)},
      {"overlapping", report.overlapping},
      {"kept", text_or_null(printable(report.kept))}};
  return dumped(json) + "\n";
}

}  // namespace wattle::app
