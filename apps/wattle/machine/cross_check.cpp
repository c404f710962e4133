#include "machine/cross_check.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/json/json_write.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/unknown.hpp"
#include "sampling/energy_fields.hpp"
#include "sampling/measured_window.hpp"

namespace wattle::app {

using Json = nlohmann::ordered_json;

CrossChecks measure_cross_checks(std::vector<Survey> surveys) {
  constexpr auto kLength = std::chrono::seconds(1);  // a thousand updates of a counter
  const TimeSource& clock = machine_clock();
  std::deque<Readings> sources;
  std::deque<MeasuredWindow> windows;
  for (Survey& found : surveys) {
    // Devices whose driver may block are read in one way only.
    std::erase_if(found.sensors, [](const auto& sensor) { return sensor->may_block(); });
    windows.emplace_back(sources.emplace_back(std::move(found.sensors), clock));
  }

  const TimePoint before_begin = clock.now();
  for (MeasuredWindow& window : windows) window.read(false);
  const TimePoint begin = clock.now();
  std::this_thread::sleep_until(begin + kLength);
  const TimePoint end = clock.now();
  for (MeasuredWindow& window : windows) window.read(true);
  const TimePoint after_end = clock.now();

  std::vector<std::vector<DomainFigure>> results;
  results.reserve(windows.size());
  for (const MeasuredWindow& window : windows) results.push_back(window.figures(begin, end));
  const Seconds apart = (begin - before_begin) + (after_end - end);
  return {.length = end - begin, .checks = cross_check(results, apart)};
}

std::string cross_check_text(const CrossChecks& measured) {
  if (measured.checks.empty()) return "\ncross-check: no domain can be read in two ways\n";
  std::string text = fmt::format("\ncross-check over {}\n", to_text(measured.length));
  for (const CrossCheck& check : measured.checks) {
    const auto side = [](const std::string& source, const MeasuredEnergy& spent) {
      if (!spent.energy) return fmt::format("{} {}", source, kUnknown);
      return with_doubts(fmt::format("{} {}", source, to_text(*spent.energy, spent.uncertainty)),
                         spent.flags);
    };
    text += fmt::format("{}\t{}, {} ", check.domain.name(), side(check.source, check.energy),
                        side(check.other_source, check.other_energy));
    if (const std::optional<Joules> difference = check.difference()) {
      text +=
          fmt::format("{}: {} apart, at most {} expected\n", check.agrees() ? "agree" : "DISAGREE",
                      to_text(*difference), to_text(check.tolerance));
    } else {
      text += "cannot be compared\n";
    }
  }
  return text;
}

nlohmann::ordered_json cross_check_json(const CrossChecks& measured) {
  Json checks = Json::array();
  for (const CrossCheck& check : measured.checks) {
    checks.push_back(
        {{"domain", check.domain.name()},
         {"source", check.source},
         {"energy_j", or_null(check.energy.energy)},
         {"uncertainty_j", uncertainty_or_null(check.energy.energy, check.energy.uncertainty)},
         {"flags", json_of(check.energy.flags)},
         {"other_source", check.other_source},
         {"other_energy_j", or_null(check.other_energy.energy)},
         {"other_uncertainty_j",
          uncertainty_or_null(check.other_energy.energy, check.other_energy.uncertainty)},
         {"other_flags", json_of(check.other_energy.flags)},
         {"tolerance_j", check.tolerance.si()},
         {"agrees", check.difference() ? Json(check.agrees()) : Json()}});
  }
  return {{"length_s", measured.length.count()}, {"domains", std::move(checks)}};
}

}  // namespace wattle::app
