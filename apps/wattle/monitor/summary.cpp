// wattle summary: what the files of a run monitor, or of nvidia-smi, show.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/clock.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/commands.hpp"
#include "output/output.hpp"
#include "output/progress.hpp"
#include "run_monitor/resource_summary.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingFound = 2;

/// Of the file, or of those in the folder itself; 1 where that is not known.
std::uint64_t bytes_of_files(const std::filesystem::path& path, bool is_folder) {
  std::uint64_t bytes = 1;
  std::error_code error;
  if (!is_folder) {
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return error ? bytes : bytes + size;
  }
  for (const char* name : {"hw_metrics.csv", "cpu_metrics.csv", "hw_dmon.csv", "hw_samples.csv"}) {
    const std::uintmax_t size = std::filesystem::file_size(path / name, error);
    if (!error) bytes += size;
  }
  return bytes;
}

/// Shows what it is doing where that takes long.
ResourceSummary summarized(const std::filesystem::path& path, bool is_folder,
                           std::optional<std::size_t> gpus_in_file) {
  constexpr std::chrono::seconds kLong{2};
  constexpr std::chrono::milliseconds kShowEvery{200};
  const auto all_bytes = static_cast<double>(bytes_of_files(path, is_folder));
  const TimePoint begin = machine_clock().now();
  TimePoint next_show = begin + kLong;
  Progress progress("wattle summary");
  const auto report = [&](std::uint64_t bytes) {
    const TimePoint now = machine_clock().now();
    if (now < next_show) return;
    next_show = now + kShowEvery;
    const double part = std::clamp(static_cast<double>(bytes) / all_bytes, 0.001, 1.0);
    progress.show("reading, " + left_text(part, now - begin), part);
  };
  return is_folder ? summary_of_folder(path, report, gpus_in_file)
                   : summary_of_file(path, report, gpus_in_file);
}

/// Why there is no figure, for each file.
std::string why_nothing(const ResourceSummary& summary, bool is_folder) {
  std::string text;
  for (const SummaryFile& file : summary.files) {
    std::string_view problem_text = file.problem;
    (void)take_prefix(problem_text, "no row can be read; ");
    std::string problem(problem_text);
    if (problem.empty()) {
      problem = fmt::format(
          "{} without a value; expected are numbers in utilization.gpu, utilization.memory, "
          "memory.used, power.draw{}",
          counted(file.rows, "row"), file.note.empty() ? "" : " (" + file.note + ")");
    }
    text += is_folder ? fmt::format("\n  {}: {}", printable(file.path.filename().string()), problem)
                      : fmt::format("\n  {}", problem);
  }
  return text;
}

}  // namespace

int execute(const SummaryOptions& options) {
  const std::filesystem::path path = options.path;
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  if (options.path != "-" && !std::filesystem::exists(path, error)) {
    print_message("summary", fmt::format("cannot read {}: {}", printable(options.path),
                                         error ? error.message() : "No such file or directory"));
    return kNothingFound;
  }
  Output output = Output::open("-", false);
  ResourceSummary summary = summarized(path, is_folder, options.gpus_in_file);
  if (options.allocator_peak_mb) summary.set_allocator_peak(*options.allocator_peak_mb);
  const bool has_any = has_figures(summary);
  if (!has_any && !options.json) {
    const bool has_rows =
        std::ranges::any_of(summary.files, [](const SummaryFile& file) { return file.rows > 0; });
    print_message("summary", fmt::format("no {} can be read in {}{}", has_rows ? "value" : "row",
                                         printable(options.path), why_nothing(summary, is_folder)));
    return kNothingFound;
  }
  output.write(options.json ? summary.to_json() : summary_text(summary, style_of(STDOUT_FILENO)));
  return has_any ? 0 : kNothingFound;
}

}  // namespace wattle::app
