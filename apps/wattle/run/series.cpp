#include "run/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/files/file.hpp"
#include "output/energy_words.hpp"

namespace wattle::app {
namespace {

constexpr std::string_view kHeader =
    "time_unix_s,elapsed_s,domain,power_w,utilization_percent,memory_used_bytes,"
    "temperature_celsius,clock_hz,power_uncertainty_w,flags\n";
constexpr std::string_view kUncertaintyColumn = ",power_uncertainty_w";

std::string tenths(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "";
}
std::string whole(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "";
}
std::string milliwatts(const std::optional<Watts>& power) {
  return power ? fmt::format("{:.3f}", power->si()) : "";
}

/// The ± (k = 2) of the mean power, and flags, as the last two cells.
std::string doubt_cells(const std::optional<EnergyFigure>& energy) {
  if (!energy) return ",,";
  const bool is_known = energy->energy && energy->known > Seconds(0);
  return "," +
         milliwatts(is_known ? std::optional(energy->uncertainty / energy->known) : std::nullopt) +
         "," + flags_text(energy->flags, " ");
}

}  // namespace

SeriesFile::SeriesFile(const std::string& path, bool append) : file_(path, kHeader, append) {
  if (!file_.is_continued()) return;
  const auto header = read_line(path);
  has_uncertainty_ = !header || header->find(kUncertaintyColumn) != std::string::npos;
}

void SeriesFile::add(const MeasuredWindow& window, const MachineMonitor& machine, TimePoint now,
                     Seconds elapsed) {
  if (file_.has_failed()) return;
  const std::string time = fmt::format("{:.6f},{:.6f},", to_unix(now), elapsed.count());
  file_.add(fmt::format("{}host,,{},{},,{}\n", time, tenths(machine.last_cpu_percent()),
                        whole(machine.last_memory_used_bytes()), has_uncertainty_ ? ",," : ""));
  const Readings& readings = window.readings();
  for (const Domain& domain : readings.domains()) {
    std::string row =
        fmt::format("{}{},{}", time, domain.name(), milliwatts(window.interval_power(domain)));
    const auto device =
        std::ranges::find(readings.devices(), domain, &Readings::ObservedGpu::domain);
    const auto latest = [&](Metric metric) {
      return device == readings.devices().end() ? std::nullopt : readings.latest(*device, metric);
    };
    row += "," + tenths(latest(Metric::utilization)) + "," + whole(latest(Metric::memory_used));
    row += "," + tenths(latest(Metric::temperature)) + "," + whole(latest(Metric::clock_sm));
    if (has_uncertainty_) row += doubt_cells(window.interval_energy(domain));
    file_.add(row + "\n");
  }
}

}  // namespace wattle::app
