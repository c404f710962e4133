#include "run_monitor/resource_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run_monitor/tables/cpu_table.hpp"
#include "run_monitor/tables/dmon_table.hpp"
#include "run_monitor/tables/gpu_table.hpp"
#include "run_monitor/tables/samples_table.hpp"
#include "run_monitor/tables/table_file.hpp"
#include "sensors/refusals.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {
namespace {

/// A file that is to be summarized, or not; what precedes `begin` is not. `open`: it is open.
struct SummaryInput {
  std::optional<std::filesystem::path> path;
  std::uint64_t begin = 0;
  TableFile* open = nullptr;
};

template <class Table>
SummaryFile read_table(const SummaryInput& source, Table& table, ReadBytes& read) {
  if (source.open != nullptr) return source.open->read_into(table, read);
  return TableFile(source.path.value_or(""), source.begin).read_into(table, read);
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
  // Memory utilization is the other way round: dmon's counts first.
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

void take_gpu_csv(ResourceSummary& summary, const SummaryInput& source, ReadBytes& read,
                  const std::optional<ExpectedGpus>& expected) {
  const bool is_measured = !summary.gpus.empty();
  GpuCsv csv;
  // Where the samples are there, they have the figures: whose each row is does not matter.
  if (is_measured) {
    csv.take_for_one_gpu();
  } else if (expected) {
    csv.expect_gpus(*expected);
  }
  SummaryFile file = read_table(source, csv, read);
  GpuTable table = csv.result();
  file.unassigned_rows = table.unassigned_rows;
  if (file.rows > 0) file.gpus_by = is_measured ? "hw_samples.csv" : std::move(table.gpus_by);
  if (!is_measured) {
    add_problem(file, table.problem);
    static_cast<GpuFigures&>(summary) = table.all;
    summary.gpus = std::move(table.gpus);
    if (summary.mem_util_mean_pct) summary.mem_util_source = file.path;
  }
  summary.files.push_back(std::move(file));
}

void take_dmon(ResourceSummary& summary, SummaryFile file, const GpuTable& table,
               bool is_measured) {
  summary.files.push_back(std::move(file));
  if (is_measured) return;
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

void take_cpu_csv(ResourceSummary& summary, const SummaryInput& source, ReadBytes& read) {
  CpuTable table;
  summary.files.push_back(read_table(source, table, read));
  if (summary.cpu_usr_mean_pct || summary.cpu_idle_mean_pct) return;
  summary.cpu_usr_mean_pct = table.usr_mean_pct();
  summary.cpu_idle_mean_pct = table.idle_mean_pct();
}

/// The samples first: they are what the monitor measured, and the others tables of it.
ResourceSummary summary_of(const SummaryInput& gpu_csv, const SummaryInput& cpu_csv,
                           const SummaryInput& dmon_csv, const SummaryInput& samples_csv,
                           const SummaryProgress& progress = {},
                           std::optional<std::size_t> gpus_in_file = {}) {
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
  std::optional<ExpectedGpus> expected;
  if (gpus_in_file) expected = {.count = *gpus_in_file};
  // First of all: it names the GPUs, which rows without an index do not.
  std::optional<SummaryFile> dmon_file;
  GpuTable dmon_table;
  if (dmon_csv.path) {
    DmonTable dmon;
    dmon_file = read_table(dmon_csv, dmon, read);
    dmon_table = dmon.result();
    if (!expected && !dmon_table.gpus.empty()) {
      expected = {.count = dmon_table.gpus.size(), .is_given = false};
    }
  }
  if (gpu_csv.path) take_gpu_csv(summary, gpu_csv, read, expected);
  if (cpu_csv.path) take_cpu_csv(summary, cpu_csv, read);
  if (dmon_file) take_dmon(summary, std::move(*dmon_file), dmon_table, is_measured);
  if (samples_file) summary.files.push_back(std::move(*samples_file));
  if (is_measured || summary.gpus.empty()) return summary;
  for (MissingEnergy& part : summary.machine.total_missing) {
    if (part.reason == why_no_sensor("gpu", false)) part.reason = "hw_samples.csv has none of it";
  }
  return summary;
}

/// The result of reading a file as a table of one kind.
template <class Table>
struct Trial {
  explicit Trial(const TableFile& file) {
    const auto table = file.trial<Table>();
    rows = table.readable();
    if constexpr (requires { table.has_header(); }) has_header = table.has_header();
  }
  std::uint64_t rows = 0;
  bool has_header = false;
};

/// By what its first lines are: rows, or else the header alone. The order matters where rows are of
/// two kinds: three numbers may be shares of processor time, unless a header says otherwise; four
/// may be anything, unless a header or the name of the file says that they are dmon's.
TableKind kind_of(const TableFile& file, const std::filesystem::path& path) {
  const Trial<SamplesTable> samples(file);
  const Trial<DmonTable> dmon(file);
  const Trial<GpuCsv> gpu(file);
  const Trial<CpuTable> cpu(file);
  const bool is_of_gpus = (gpu.has_header || dmon.has_header) && !cpu.has_header;
  const std::uint64_t cpu_rows = is_of_gpus ? 0 : cpu.rows;
  const bool may_be_dmon = dmon.has_header || path.filename() == "hw_dmon.csv";
  const std::uint64_t dmon_rows = may_be_dmon ? dmon.rows : 0;
  const std::uint64_t most = std::max({samples.rows, dmon_rows, gpu.rows, cpu_rows});
  if (most == 0) {
    if (dmon.has_header) return TableKind::dmon;
    return gpu.has_header ? TableKind::gpus : TableKind::unknown;
  }
  if (samples.rows == most) return TableKind::samples;
  if (dmon_rows == most) return TableKind::dmon;
  return gpu.rows == most ? TableKind::gpus : TableKind::cpus;
}

constexpr const char* kKinds =
    "expected: rows of nvidia-smi --query-gpu or nvidia-smi dmon, or a file of wattle monitor";

}  // namespace

ResourceSummary summary_of_file(const std::filesystem::path& path, const SummaryProgress& progress,
                                std::optional<std::size_t> gpus_in_file) {
  TableFile file(path, 0);
  const TableKind kind = kind_of(file, path);
  const SummaryInput open{.path = path, .open = &file};
  const auto source = [&](TableKind its_kind) { return kind == its_kind ? open : SummaryInput{}; };
  if (kind != TableKind::unknown) {
    return summary_of(source(TableKind::gpus), source(TableKind::cpus), source(TableKind::dmon),
                      source(TableKind::samples), progress, gpus_in_file);
  }
  // Read as the likeliest kind, it says what does not fit.
  ResourceSummary summary = summary_of(open, {}, {}, {}, progress, gpus_in_file);
  std::string& problem = summary.files.front().problem;
  if (file.has_text()) problem += fmt::format("; {}", kKinds);
  return summary;
}

ResourceSummary build_resource_summary(const std::optional<std::filesystem::path>& gpu_csv,
                                       const std::optional<std::filesystem::path>& cpu_csv,
                                       const std::optional<std::filesystem::path>& dmon_csv,
                                       const std::optional<std::filesystem::path>& samples_csv) {
  return summary_of({gpu_csv}, {cpu_csv}, {dmon_csv}, {samples_csv});
}

ResourceSummary summary_of_folder(const std::filesystem::path& folder,
                                  const SummaryProgress& progress,
                                  std::optional<std::size_t> gpus_in_file) {
  return summary_of({folder / "hw_metrics.csv"}, {folder / "cpu_metrics.csv"},
                    {folder / "hw_dmon.csv"}, {folder / "hw_samples.csv"}, progress, gpus_in_file);
}

ResourceSummary build_resource_summary(const HardwareFiles& files) {
  return summary_of({files.gpu_csv, files.gpu_csv_begin}, {files.cpu_csv, files.cpu_csv_begin},
                    {files.dmon_csv, files.dmon_csv_begin},
                    {files.samples_csv, files.samples_csv_begin});
}

}  // namespace wattle
