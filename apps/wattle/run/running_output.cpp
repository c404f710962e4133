#include "run/running_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "base/files/file.hpp"
#include "base/files/output_path.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "output/energy_words.hpp"
#include "wattle/clock.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// As many rows as `most` bytes hold, but at least one.
std::string_view whole_rows(std::string_view rows, std::size_t most) {
  if (rows.size() <= most) return rows;
  std::size_t end = rows.rfind('\n', most - 1);
  if (end == std::string_view::npos) end = rows.find('\n');
  return rows.substr(0, end == std::string_view::npos ? rows.size() : end + 1);
}

constexpr std::string_view kSeriesHeader =
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

constexpr std::string_view kUnitHeader =
    "tag,id,start_unix_s,time_s,weight,work,energy_j,uncertainty_j,unknown_s,flags\n";

}  // namespace

CsvFile::CsvFile(const std::string& path, std::string_view header, bool append)
    : path_(path), fd_(open(path, header, append)) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) throw WriteError(path, errno);
  is_special_ = !S_ISREG(status.st_mode);
  is_continued_ = append && status.st_size > 0;
  if (status.st_size == 0) add(header);
  if (error_ != 0) throw WriteError(path, error_);
}

Fd CsvFile::open(const std::string& path, std::string_view header, bool append) {
  const OutputPlace place = find_output(path);
  if (place.error != 0) throw WriteError(path, place.error);
  struct stat status {};
  const bool is_special = ::stat(place.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (!append && !is_special) {
    // Who reads the old file, or still writes to it, keeps it.
    NewFile made = put_in_place(place.path, header, kModeForOwner);
    if (made.fd) return std::move(made.fd);
  }
  // A pipe without a reader ends the rows; it must not stop the run.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | (append ? 0 : O_TRUNC);
  Fd fd = open_output(path, flags, kModeForOwner);
  if (!fd) throw WriteError(path, errno);
  return fd;
}

void CsvFile::add(std::string_view rows) {
  while (error_ == 0 && !rows.empty()) {
    const std::string_view part = is_special_ ? whole_rows(rows, PIPE_BUF) : rows;
    write_whole(part);
    rows.remove_prefix(part.size());
  }
}

/// A pipe takes this much whole, or nothing; its reader may be a moment late.
void CsvFile::write_whole(std::string_view rows) {
  constexpr int kPatienceMs = 100;
  ssize_t written = ::write(fd_.get(), rows.data(), rows.size());
  // Not before: a pipe may have room for a row where poll says that it has none.
  if (written < 0 && errno == EAGAIN) {
    pollfd ready{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
    (void)::poll(&ready, 1, kPatienceMs);
    written = ::write(fd_.get(), rows.data(), rows.size());
  }
  if (written == static_cast<ssize_t>(rows.size())) return;
  error_ = written < 0 ? errno : ENOSPC;
  struct stat status {};
  // Half a row would be a wrong row.
  if (written > 0 && ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      ::ftruncate(fd_.get(), status.st_size - written) != 0) {
    error_ = errno;
  }
}

std::string CsvFile::failure() const {
  if (error_ == EAGAIN) return fmt::format("cannot write {}: its reader is too slow", path_);
  return error_ == 0 ? "" : WriteError(path_, error_).what();
}

SeriesFile::SeriesFile(const std::string& path, bool append) : file_(path, kSeriesHeader, append) {
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

std::string unit_row(const UnitEnergy& unit, const std::string& id) {
  const MeasuredEnergy& energy = unit.energy;
  std::string row = csv_cell(printable(unit.tag, std::string::npos)) + "," +
                    csv_cell(printable(id, std::string::npos));
  row += fmt::format(",{:.6f},{:.6f},{},{},", to_unix(unit.begin),
                     Seconds(unit.end - unit.begin).count(), unit.weight, unit.work);
  if (energy.energy) {
    row += fmt::format("{:.6g},{:.2g}", energy.energy->si(), energy.uncertainty.si());
  } else {
    row += ",";
  }
  return row + fmt::format(",{:.6f},{}\n", energy.unknown.count(), flags_text(energy.flags, " "));
}

UnitRows::UnitRows(const std::string& path, bool append) : file_(path, kUnitHeader, append) {}

void UnitRows::add(const UnitEnergy& unit, const std::string& id) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 16U;
  if (file_.has_failed()) return;
  rows_ += unit_row(unit, id);
  if (rows_.size() >= kMostAtOnce) write();
}

void UnitRows::write() {
  file_.add(rows_);
  rows_.clear();
}

RunStatus::RunStatus(std::chrono::nanoseconds period, TimePoint begin)
    : period_(period), begin_(begin), next_(begin + period), last_(begin) {}

std::optional<std::string> RunStatus::add(TimePoint now, std::optional<Watts> power,
                                          const TreeState* tree, const MeasuredEnergy& energy) {
  sum_.add(power);
  errors_.add(energy.uncertainty, energy.common);
  flags_ |= energy.flags;
  has_errors_ = has_errors_ && energy.energy;
  ++intervals_;
  if (now < next_) return std::nullopt;
  std::string text = line(now, tree);
  while (next_ <= now) next_ += period_;
  last_ = now;
  if (tree != nullptr) last_cpu_ = tree->main.cpu + tree->descendants.cpu;
  sum_ = {};
  errors_ = {};
  flags_ = {};
  has_errors_ = true;
  intervals_ = 0;
  return text;
}

std::string RunStatus::line(TimePoint now, const TreeState* tree) const {
  std::string text = fmt::format("{}: ", to_text(Seconds(now - begin_)));
  const auto sum = sum_.value();
  const Watts mean(sum.value_or(Watts(0.0)).si() / intervals_);
  if (!sum) {
    text += "power unknown";
  } else {
    text +=
        has_errors_ ? to_text(mean, errors_.uncertainty() / Seconds(now - last_)) : to_text(mean);
  }
  text = with_doubts(std::move(text), flags_);
  if (tree == nullptr) return text;
  const std::chrono::nanoseconds cpu = tree->main.cpu + tree->descendants.cpu - last_cpu_;
  text += fmt::format(", {:.2f} CPU cores in use", Seconds(cpu) / Seconds(now - last_));
  return text + fmt::format(", {}{} memory", tree->combined.is_estimated ? "at most " : "",
                            bytes_to_text(tree->combined.pss_bytes));
}

}  // namespace wattle::app
