#include "run_monitor/resource_summary.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "base/line_reader.hpp"
#include "base/split.hpp"
#include "base/text.hpp"
#include "run_monitor/cpu_table.hpp"
#include "run_monitor/dmon_table.hpp"
#include "run_monitor/gpu_table.hpp"
#include "run_monitor/samples_table.hpp"
#include "sensors/refusals.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {
namespace {

/// A file that is to be summarized, or not; what lies in front of `begin` is not.
struct Source {
  std::optional<std::filesystem::path> path;
  std::uint64_t begin = 0;
};

/// At its begin, or at `begin` where the file is as long: it may have been emptied since.
void seek(const Fd& fd, std::uint64_t begin) noexcept {
  struct stat status {};
  if (begin == 0 || ::fstat(fd.get(), &status) != 0) return;
  if (begin <= static_cast<std::uint64_t>(status.st_size)) {
    (void)::lseek(fd.get(), static_cast<off_t>(begin), SEEK_SET);
  }
}

/// Editors and spreadsheets put it before the first line.
std::string_view without_byte_order_mark(std::string_view line) noexcept {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return line.starts_with(kMark) ? line.substr(kMark.size()) : line;
}

/// Counts what was read, and reports it now and then.
class ReadBytes {
 public:
  explicit ReadBytes(const SummaryProgress& report) : report_(report) {}
  void add(std::uint64_t bytes) {
    constexpr std::uint64_t kOften = std::uint64_t{1} << 20U;
    const std::uint64_t before = std::exchange(all_, all_ + bytes) / kOften;
    if (report_ && all_ / kOften != before) report_(all_);
  }

 private:
  const SummaryProgress& report_;
  std::uint64_t all_ = 0;
};

/// Gives `table` the lines of a file; says what became of it.
template <class Table>
SummaryFile read_table(const Source& source, Table& table, ReadBytes& read) {
  SummaryFile file{.path = source.path.value_or("")};
  Fd fd = open_for_reading(file.path.string());
  if (!fd) {
    file.problem = std::generic_category().message(errno);
    return file;
  }
  seek(fd, source.begin);
  LineReader lines(std::move(fd));
  std::size_t damaged = 0;
  const auto take_damaged = [&] {
    for (; damaged < lines.damaged(); ++damaged) table.take_damaged();
  };
  for (bool is_first = true; const auto line = lines.next(); is_first = false) {
    take_damaged();
    std::string_view text = line.value_or(std::string_view());
    if (is_first) text = without_byte_order_mark(text);
    read.add(text.size() + 1);
    if (!trimmed(text).empty()) table.take(text);
  }
  take_damaged();
  file.rows = table.rows();
  file.bad_rows = table.bad_rows();
  if (lines.error() != 0) {
    file.problem = std::generic_category().message(lines.error());
  } else if (file.rows == 0) {
    file.problem = "no row can be read";
  }
  return file;
}

/// Takes what `figures` lacks from `others`.
void complete(GpuFigures& figures, const GpuFigures& others) {
  const auto fill = [](auto& figure, const auto& other) {
    if (!figure) figure = other;
  };
  fill(figures.peak_vram_mb, others.peak_vram_mb);
  fill(figures.gpu_util_mean_pct, others.gpu_util_mean_pct);
  fill(figures.gpu_util_max_pct, others.gpu_util_max_pct);
  fill(figures.power_watts_mean, others.power_watts_mean);
  fill(figures.power_watts_max, others.power_watts_max);
  // Of the memory's utilization the other way round: dmon's is asked for first.
  if (others.mem_util_mean_pct) {
    figures.mem_util_mean_pct = others.mem_util_mean_pct;
    figures.mem_util_max_pct = others.mem_util_max_pct;
  }
}

void add_problem(SummaryFile& file, const std::string& problem) {
  if (!problem.empty() && file.problem.empty()) file.problem = problem;
}

void take_samples(ResourceSummary& summary, SamplesResult samples,
                  const std::filesystem::path& path) {
  static_cast<GpuFigures&>(summary) = samples.gpus.all;
  summary.gpus = std::move(samples.gpus.gpus);
  summary.domains = std::move(samples.domains);
  summary.machine = std::move(samples.machine);
  summary.cpu_usr_mean_pct = samples.cpu_user_percent;
  summary.cpu_idle_mean_pct = samples.cpu_idle_percent;
  if (summary.mem_util_mean_pct) summary.mem_util_source = path;
}

void take_gpu_csv(ResourceSummary& summary, const Source& source, ReadBytes& read) {
  const bool is_measured = !summary.gpus.empty();
  GpuCsv csv;
  SummaryFile file = read_table(source, csv, read);
  GpuTable table = csv.result();
  if (!is_measured) {
    add_problem(file, table.problem);
    static_cast<GpuFigures&>(summary) = table.all;
    summary.gpus = std::move(table.gpus);
    if (summary.mem_util_mean_pct) summary.mem_util_source = file.path;
  }
  summary.files.push_back(std::move(file));
}

void take_dmon(ResourceSummary& summary, const Source& source, bool is_measured, ReadBytes& read) {
  DmonTable dmon;
  summary.files.push_back(read_table(source, dmon, read));
  if (is_measured) return;
  const GpuTable table = dmon.result();
  complete(summary, table.all);
  if (table.all.mem_util_mean_pct) summary.mem_util_source = summary.files.back().path;
  for (const GpuSummary& gpu : table.gpus) {
    const auto known = std::ranges::find(summary.gpus, gpu.name, &GpuSummary::name);
    if (known == summary.gpus.end()) {
      summary.gpus.push_back(gpu);
    } else {
      complete(*known, gpu);
    }
  }
}

void take_cpu_csv(ResourceSummary& summary, const Source& source, ReadBytes& read) {
  CpuTable table;
  summary.files.push_back(read_table(source, table, read));
  if (summary.cpu_usr_mean_pct || summary.cpu_idle_mean_pct) return;
  summary.cpu_usr_mean_pct = table.usr_mean_pct();
  summary.cpu_idle_mean_pct = table.idle_mean_pct();
}

/// The samples first: they are what the monitor measured, and the others tables of it.
ResourceSummary summary_of(const Source& gpu_csv, const Source& cpu_csv, const Source& dmon_csv,
                           const Source& samples_csv, const SummaryProgress& progress = {}) {
  ReadBytes read(progress);
  ResourceSummary summary;
  std::optional<SummaryFile> samples_file;
  SamplesTable samples;
  if (samples_csv.path) {
    samples_file = read_table(samples_csv, samples, read);
    take_samples(summary, samples.result(), *samples_csv.path);
  } else {
    summary.machine = samples.result().machine;  // nothing, and why
  }
  const bool is_measured = !summary.gpus.empty();
  if (gpu_csv.path) take_gpu_csv(summary, gpu_csv, read);
  if (cpu_csv.path) take_cpu_csv(summary, cpu_csv, read);
  if (dmon_csv.path) take_dmon(summary, dmon_csv, is_measured, read);
  if (samples_file) summary.files.push_back(std::move(*samples_file));
  if (is_measured || summary.gpus.empty()) return summary;
  for (MissingEnergy& part : summary.machine.total_missing) {
    if (part.reason == why_no_sensor("gpu", false)) part.reason = "hw_samples.csv has none of it";
  }
  return summary;
}

}  // namespace

ResourceSummary build_resource_summary(const std::optional<std::filesystem::path>& gpu_csv,
                                       const std::optional<std::filesystem::path>& cpu_csv,
                                       const std::optional<std::filesystem::path>& dmon_csv,
                                       const std::optional<std::filesystem::path>& samples_csv) {
  return summary_of({gpu_csv}, {cpu_csv}, {dmon_csv}, {samples_csv});
}

ResourceSummary summary_of_folder(const std::filesystem::path& folder,
                                  const SummaryProgress& progress) {
  return summary_of({folder / "hw_metrics.csv"}, {folder / "cpu_metrics.csv"},
                    {folder / "hw_dmon.csv"}, {folder / "hw_samples.csv"}, progress);
}

ResourceSummary build_resource_summary(const HardwareFiles& files) {
  return summary_of({files.gpu_csv, files.gpu_csv_begin}, {files.cpu_csv, files.cpu_csv_begin},
                    {files.dmon_csv, files.dmon_csv_begin},
                    {files.samples_csv, files.samples_csv_begin});
}

}  // namespace wattle
