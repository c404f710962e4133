#include "calibration/kept_calibration.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstddef>
#include <ctime>

#include "base/files/file.hpp"
#include "base/files/state_folder.hpp"
#include "base/json/json_read.hpp"
#include "base/json/json_write.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

constexpr std::string_view kCalibrationSchema = "wattle.calibration/1";
constexpr std::size_t kMostCalibrationBytes = std::size_t{256} << 10U;
constexpr std::size_t kMostSensors = 1024;

bool is_within(double value, double most) noexcept { return value >= 0.0 && value <= most; }

std::optional<KeptSensor> sensor_in(const nlohmann::ordered_json& json) {
  constexpr double kMostPercent = 1e9;
  constexpr double kMostGain = 1e9;
  KeptSensor sensor{.error_percent = -1.0, .gain = {.value = -1.0, .uncertainty = -1.0}};
  take_member(json, "domain", sensor.domain);
  take_member(json, "calibration_percent", sensor.error_percent);
  take_member(json, "gain", sensor.gain.value);
  take_member(json, "gain_uncertainty", sensor.gain.uncertainty);
  sensor.domain = printable(sensor.domain);
  const bool is_possible =
      !sensor.domain.empty() && is_within(sensor.error_percent, kMostPercent) &&
      is_within(sensor.gain.value, kMostGain) && is_within(sensor.gain.uncertainty, kMostGain);
  return is_possible ? std::optional(sensor) : std::nullopt;
}

}  // namespace

KeptCalibration kept_of(const MeterCalibration& calibration, const SupplyEfficiency& efficiency) {
  KeptCalibration kept;
  for (const CalibratedDomain& domain : calibration.domains) {
    const auto percent = sensor_error_percent(domain, efficiency);
    if (percent) kept.sensors.push_back({domain.name, *percent, *domain.gain});
  }
  return kept;
}

std::string to_json(const KeptCalibration& calibration) {
  nlohmann::ordered_json sensors = nlohmann::ordered_json::array();
  for (const KeptSensor& sensor : calibration.sensors) {
    sensors.push_back({{"domain", sensor.domain},
                       {"calibration_percent", sensor.error_percent},
                       {"gain", sensor.gain.value},
                       {"gain_uncertainty", sensor.gain.uncertainty}});
  }
  const nlohmann::ordered_json json = {{"schema", kCalibrationSchema},
                                       {"host", calibration.host},
                                       {"taken_unix_s", calibration.taken_unix_s},
                                       {"meter", calibration.meter},
                                       {"sensors", std::move(sensors)}};
  return dumped(json) + "\n";
}

std::optional<KeptCalibration> parse_calibration(std::string_view text) {
  constexpr double kMostSeconds = 1e11;
  if (text.size() > kMostCalibrationBytes) return std::nullopt;
  const nlohmann::ordered_json json = parse_json(text);
  std::string schema;
  KeptCalibration kept{.taken_unix_s = -1.0};
  take_member(json, "schema", schema);
  take_member(json, "host", kept.host);
  take_member(json, "taken_unix_s", kept.taken_unix_s);
  take_member(json, "meter", kept.meter);
  kept.host = printable(kept.host);
  kept.meter = printable(kept.meter);
  if (schema != kCalibrationSchema || !is_within(kept.taken_unix_s, kMostSeconds)) {
    return std::nullopt;
  }
  for_each_object(at(json, "sensors"), [&](const nlohmann::ordered_json& object) {
    const auto sensor = sensor_in(object);
    if (sensor && kept.sensors.size() < kMostSensors) kept.sensors.push_back(*sensor);
  });
  return kept.sensors.empty() ? std::nullopt : std::optional(kept);
}

std::string source_text(const KeptCalibration& calibration) {
  return fmt::format("compared with {} on {:%Y-%m-%d}", calibration.meter,
                     fmt::gmtime(static_cast<std::time_t>(calibration.taken_unix_s)));
}

std::optional<KeptCalibration> read_calibration(std::string_view host) {
  try {
    const auto text = read_file(host_state_file("calibration", host), kMostCalibrationBytes);
    auto kept = text ? parse_calibration(*text) : std::nullopt;
    if (!kept || kept->host != host) return std::nullopt;
    return kept;
  } catch (const Error&) {
    return std::nullopt;  // no state folder
  }
}

}  // namespace wattle
