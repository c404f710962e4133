#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "base/line_reader.hpp"
#include "base/python_repr.hpp"
#include "base/text.hpp"
#include "hardware/cpu_table.hpp"
#include "hardware/dmon_table.hpp"
#include "hardware/gpu_table.hpp"
#include "hardware/json_text.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"
#include "wattle/run_log.hpp"

namespace wattle {
namespace {

constexpr double kMebibyteBytes = 1048576.0;

/// A file that is to be summarized, or not; what lies in front of `begin` is not.
struct Source {
  const std::optional<std::filesystem::path>& path;
  std::uint64_t begin = 0;
};

/// At its begin, or at `begin` where the file is as long: it may have been emptied meanwhile.
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

/// Gives `table` the lines of a file; says what became of it.
template <class Table>
SummaryFile read_table(const std::filesystem::path& path, std::uint64_t begin, Table& table) {
  SummaryFile file{.path = path};
  Fd fd = open_for_reading(path.string());
  if (!fd) {
    file.problem = std::generic_category().message(errno);
    return file;
  }
  seek(fd, begin);
  LineReader lines(std::move(fd));
  std::size_t damaged = 0;
  const auto take_damaged = [&] {
    for (; damaged < lines.damaged(); ++damaged) table.take_damaged();
  };
  for (bool is_first = true; const auto line = lines.next(); is_first = false) {
    take_damaged();
    std::string_view text = line.value_or(std::string_view());
    if (is_first) text = without_byte_order_mark(text);
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

void take_gpu_csv(ResourceSummary& summary, const std::filesystem::path& path,
                  std::uint64_t begin) {
  GpuCsv csv;
  SummaryFile file = read_table(path, begin, csv);
  GpuTable table = csv.result();
  add_problem(file, table.problem);
  static_cast<GpuFigures&>(summary) = table.all;
  summary.gpus = std::move(table.gpus);
  if (summary.mem_util_mean_pct) summary.mem_util_source = path;
  summary.files.push_back(std::move(file));
}

void take_dmon(ResourceSummary& summary, const std::filesystem::path& path, std::uint64_t begin) {
  DmonTable dmon;
  summary.files.push_back(read_table(path, begin, dmon));
  const GpuTable table = dmon.result();
  complete(summary, table.all);
  if (table.all.mem_util_mean_pct) summary.mem_util_source = path;
  for (const GpuSummary& gpu : table.gpus) {
    const auto known = std::ranges::find(summary.gpus, gpu.name, &GpuSummary::name);
    if (known == summary.gpus.end()) {
      summary.gpus.push_back(gpu);
    } else {
      complete(*known, gpu);
    }
  }
}

void take_cpu_csv(ResourceSummary& summary, const std::filesystem::path& path,
                  std::uint64_t begin) {
  CpuTable table;
  summary.files.push_back(read_table(path, begin, table));
  summary.cpu_usr_mean_pct = table.usr_mean_pct();
  summary.cpu_idle_mean_pct = table.idle_mean_pct();
}

ResourceSummary summary_of(const Source& gpu_csv, const Source& cpu_csv, const Source& dmon_csv) {
  ResourceSummary summary;
  if (gpu_csv.path) take_gpu_csv(summary, *gpu_csv.path, gpu_csv.begin);
  if (cpu_csv.path) take_cpu_csv(summary, *cpu_csv.path, cpu_csv.begin);
  if (dmon_csv.path) take_dmon(summary, *dmon_csv.path, dmon_csv.begin);
  return summary;
}

Value number(const std::optional<double>& figure) { return figure ? Value(*figure) : Value(); }
Value one_decimal(const std::optional<double>& figure) {
  return figure ? Value(python_round(*figure, 1)) : Value();
}
Value bytes(const std::optional<double>& mebibytes) {
  if (!mebibytes) return {};
  const double bytes = *mebibytes * kMebibyteBytes;
  constexpr double kMostWhole = 0x1p63;
  return bytes < kMostWhole ? Value(std::llround(bytes)) : Value(bytes);
}

Value::Object figures_json(const GpuFigures& figures) {
  return {{"peak_memory_used_bytes", bytes(figures.peak_vram_mb)},
          {"mean_utilization_percent", number(figures.gpu_util_mean_pct)},
          {"max_utilization_percent", number(figures.gpu_util_max_pct)},
          {"mean_memory_utilization_percent", number(figures.mem_util_mean_pct)},
          {"max_memory_utilization_percent", number(figures.mem_util_max_pct)},
          {"mean_power_w", number(figures.power_watts_mean)},
          {"max_power_w", number(figures.power_watts_max)},
          {"energy_j", figures.energy ? Value(figures.energy->si()) : Value()},
          {"energy_unknown_s", figures.energy_unknown.count()}};
}

Value value_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

std::string shown(const std::optional<double>& figure, std::string_view unit) {
  return figure ? fmt::format("{:.1f} {}", *figure, unit) : "-";
}

std::string figures_text(const GpuFigures& figures) {
  return fmt::format(
      "  {:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12}\n",
      shown(figures.peak_vram_mb, "MiB"), shown(figures.gpu_util_mean_pct, "%"),
      shown(figures.gpu_util_max_pct, "%"), shown(figures.mem_util_mean_pct, "%"),
      shown(figures.mem_util_max_pct, "%"), shown(figures.power_watts_mean, "W"),
      shown(figures.power_watts_max, "W"),
      shown(figures.energy ? std::optional(figures.energy->si()) : std::nullopt, "J"));
}

}  // namespace

void ResourceSummary::set_allocator_peak(double mebibytes) {
  if (!std::isfinite(mebibytes) || mebibytes < 0.0) {
    throw InvalidArgument("cannot set the allocator's peak: it is a number of MiB from 0 on");
  }
  jax_peak_bytes_mb = mebibytes;
}

std::string ResourceSummary::to_dict() const {
  Value::Object members = {{"peak_vram_mb", one_decimal(peak_vram_mb)},
                           {"gpu_util_mean_pct", one_decimal(gpu_util_mean_pct)},
                           {"gpu_util_max_pct", one_decimal(gpu_util_max_pct)},
                           {"power_watts_mean", one_decimal(power_watts_mean)},
                           {"power_watts_max", one_decimal(power_watts_max)},
                           {"cpu_usr_mean_pct", one_decimal(cpu_usr_mean_pct)},
                           {"cpu_idle_mean_pct", one_decimal(cpu_idle_mean_pct)}};
  if (jax_peak_bytes_mb) members.emplace_back("jax_peak_bytes_mb", one_decimal(jax_peak_bytes_mb));
  if (mem_util_mean_pct) {
    members.emplace_back("mem_util_mean_pct", one_decimal(mem_util_mean_pct));
    members.emplace_back("mem_util_max_pct", one_decimal(mem_util_max_pct));
  }
  std::string text;
  append_json(text, Value(std::move(members)));
  return text + '\n';
}

std::string ResourceSummary::to_json() const {
  Value::Array each;
  for (const GpuSummary& gpu : gpus) {
    Value::Object members = {{"name", gpu.name}};
    std::ranges::move(figures_json(gpu), std::back_inserter(members));
    each.emplace_back(std::move(members));
  }
  Value::Array sources;
  for (const SummaryFile& file : files) {
    sources.emplace_back(Value::Object{{"path", file.path.string()},
                                       {"rows", file.rows},
                                       {"bad_rows", file.bad_rows},
                                       {"problem", value_or_null(file.problem)}});
  }
  std::string text;
  append_json(text, Value(Value::Object{
                        {"schema", "wattle.summary/1"},
                        {"all_gpus", figures_json(*this)},
                        {"gpus", std::move(each)},
                        {"memory_utilization_source", value_or_null(mem_util_source.string())},
                        {"mean_cpu_user_percent", number(cpu_usr_mean_pct)},
                        {"mean_cpu_idle_percent", number(cpu_idle_mean_pct)},
                        {"allocator_peak_bytes", bytes(jax_peak_bytes_mb)},
                        {"files", std::move(sources)}}));
  return text + '\n';
}

std::string ResourceSummary::to_text() const {
  std::string text =
      fmt::format("{:<12}  {:>12} {:>21} {:>21} {:>21} {:>12}\n{:<12}  {:>12}", "", "memory",
                  "utilization", "memory utilization", "power", "energy", "", "peak");
  for (int i = 0; i < 3; ++i) text += fmt::format(" {:>10} {:>10}", "mean", "max");
  text += '\n';
  for (const GpuSummary& gpu : gpus) {
    text += fmt::format("{:<12}{}", "GPU " + printable(gpu.name), figures_text(gpu));
  }
  text += fmt::format("{:<12}{}", "all GPUs", figures_text(*this));
  text += fmt::format("{:<12}  {} user, {} idle on average\n", "processors",
                      shown(cpu_usr_mean_pct, "%"), shown(cpu_idle_mean_pct, "%"));
  if (jax_peak_bytes_mb) {
    text += fmt::format("{:<12}  {} at most\n", "allocator", shown(jax_peak_bytes_mb, "MiB"));
  }
  if (energy_unknown > Seconds(0)) {
    text += fmt::format("the energy lacks {:.1f} s without a power\n", energy_unknown.count());
  }
  for (const SummaryFile& file : files) {
    text += fmt::format("{}: {} rows", printable(file.path.string()), file.rows);
    if (file.bad_rows > 0) text += fmt::format(", {} damaged ones left out", file.bad_rows);
    if (!file.problem.empty()) text += ": " + file.problem;
    text += '\n';
  }
  return text;
}

ResourceSummary build_resource_summary(const std::optional<std::filesystem::path>& gpu_csv,
                                       const std::optional<std::filesystem::path>& cpu_csv,
                                       const std::optional<std::filesystem::path>& dmon_csv) {
  return summary_of({gpu_csv}, {cpu_csv}, {dmon_csv});
}

ResourceSummary build_resource_summary(const HardwareFiles& files) {
  return summary_of({files.gpu_csv, files.gpu_csv_begin}, {files.cpu_csv, files.cpu_csv_begin},
                    {files.dmon_csv, files.dmon_csv_begin});
}

}  // namespace wattle
