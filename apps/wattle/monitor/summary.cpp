// wattle summary: what the files of a run monitor, or of nvidia-smi, show.
#include "monitor/summary.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
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
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/subcommand.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "run_monitor/resource_summary.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingFound = 2;

/// The size of the file, or of those in the folder itself; 1 if unknown.
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

constexpr const char* kSummaryFooter = R"(
Reads hw_samples.csv, hw_metrics.csv, cpu_metrics.csv and hw_dmon.csv in DIR, as a run monitor or
nvidia-smi wrote them; each may be missing. hw_samples.csv has everything that a run monitor measured,
and counts first. The content of a single file shows its kind; UTF-16, quotes, tabs, semicolons and the
units of a header are understood. What is unknown is "-" or null; damaged rows are skipped and
counted. Exit status: 0, 2 where no value can be read, 64 for a wrong option, 125 where stdout cannot be written.
)";

/// The options as they are written.
struct RawSummary {
  SummaryOptions summary;
  std::optional<std::string> allocator_peak;
  std::optional<std::string> gpus_in_file;

  void add(CLI::App& command);
  [[nodiscard]] SummaryOptions checked(const CommandLine& line) const;
};

void RawSummary::add(CLI::App& command) {
  command.footer(kSummaryFooter);
  command
      .add_option("DIR", summary.path,
                  "A folder with files of wattle monitor or nvidia-smi; or one such file, of any "
                  "name; - for stdin")
      ->type_name("REQUIRED");
  command.add_flag("--json", summary.json, "As JSON on stdout");
  command
      .add_option(
          "--allocator-peak-mb", allocator_peak,
          "The most MiB that the program's own allocator had in use, for the summary; None: "
          "unknown")
      ->type_name("X");
  command
      .add_option("--gpus-in-file", gpus_in_file,
                  "The number of GPUs that a log of nvidia-smi without an index has rows of")
      ->type_name("N");
}

SummaryOptions RawSummary::checked(const CommandLine& /*line*/) const {
  SummaryOptions options = summary;
  if (options.path.empty()) {
    throw InvalidArgument("a folder or file is missing: wattle summary DIR");
  }
  if (gpus_in_file) {
    constexpr std::size_t kMost = 128;
    options.gpus_in_file = parse_unsigned<std::size_t>(*gpus_in_file);
    if (!options.gpus_in_file || *options.gpus_in_file < 1 || *options.gpus_in_file > kMost) {
      throw InvalidArgument(fmt::format("--gpus-in-file takes a number from 1 to {}, not '{}'",
                                        kMost, printable(*gpus_in_file)));
    }
  }
  // "None" is what the probe prints where it does not know.
  if (!allocator_peak || *allocator_peak == "None") return options;
  options.allocator_peak_mb = parse_double(*allocator_peak);
  if (!options.allocator_peak_mb || *options.allocator_peak_mb < 0.0) {
    throw InvalidArgument(
        fmt::format("--allocator-peak-mb takes a number of MiB from 0 on, or None, not '{}'",
                    printable(*allocator_peak)));
  }
  return options;
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

extern constinit const Subcommand kSummarySubcommand = {
    .name = "summary",
    .group = HelpGroup::measure,
    .summary = "Summarize the files of a run monitor, or one file of nvidia-smi",
    .arguments = " DIR",
    .add = add_options<RawSummary>,
    .run = execute_with<SummaryOptions>};

}  // namespace wattle::app
