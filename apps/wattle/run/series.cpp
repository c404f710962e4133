#include "run/series.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/files/file.hpp"
#include "base/files/output_path.hpp"
#include "base/files/whole_file.hpp"
#include "output/energy_words.hpp"
#include "wattle/error.hpp"

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

Series::Series(const std::string& path, bool append) : path_(path), fd_(open(path, append)) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) throw WriteError(path, errno);
  if (status.st_size == 0) {
    write(std::string(kHeader));
  } else {
    const auto header = read_line(path);
    has_uncertainty_ = !header || header->find(kUncertaintyColumn) != std::string::npos;
  }
  if (error_ != 0) throw WriteError(path, error_);
}

Fd Series::open(const std::string& path, bool append) {
  const OutputPlace place = find_output(path);
  if (place.error != 0) throw WriteError(path, place.error);
  struct stat status {};
  const bool is_special = ::stat(place.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (!append && !is_special) {
    // Who reads the old file, or still writes to it, keeps it.
    NewFile made = put_in_place(place.path, kHeader, kModeForOwner);
    if (made.fd) return std::move(made.fd);
  }
  // A pipe without a reader ends the series; it must not stop the run.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | (append ? 0 : O_TRUNC);
  Fd fd = open_output(path, flags, kModeForOwner);
  if (!fd) throw WriteError(path, errno);
  return fd;
}

void Series::write(const std::string& text) {
  if (error_ != 0) return;
  const ssize_t written = ::write(fd_.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return;
  error_ = written < 0 ? errno : ENOSPC;
  struct stat status {};
  // Half a row would be a wrong row.
  if (written > 0 && ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      ::ftruncate(fd_.get(), status.st_size - written) != 0) {
    error_ = errno;
  }
}

void Series::add(const MeasuredWindow& window, const MachineMonitor& machine, TimePoint now,
                 Seconds elapsed) {
  if (error_ != 0) return;
  const std::string time = fmt::format("{:.6f},{:.6f},", to_unix(now), elapsed.count());
  write(fmt::format("{}host,,{},{},,{}\n", time, tenths(machine.last_cpu_percent()),
                    whole(machine.last_memory_used_bytes()), has_uncertainty_ ? ",," : ""));
  const Readings& readings = window.readings();
  for (const Domain& domain : readings.domains()) {
    std::string row =
        fmt::format("{}{},{}", time, domain.name(), milliwatts(window.interval_power(domain)));
    const auto device = std::ranges::find(readings.devices(), domain, &Readings::Device::domain);
    const auto latest = [&](Metric metric) {
      return device == readings.devices().end() ? std::nullopt : readings.latest(*device, metric);
    };
    row += "," + tenths(latest(Metric::utilization)) + "," + whole(latest(Metric::memory_used));
    row += "," + tenths(latest(Metric::temperature)) + "," + whole(latest(Metric::clock_sm));
    if (has_uncertainty_) row += doubt_cells(window.interval_energy(domain));
    write(row + "\n");
  }
}

std::string Series::failure() const { return error_ == 0 ? "" : WriteError(path_, error_).what(); }

}  // namespace wattle::app
