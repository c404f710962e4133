// wattle summary: what the files of a run monitor say.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "run_monitor/resource_summary.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingFound = 2;

/// Those in the folder itself.
std::uint64_t bytes_of_files(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const char* name : {"hw_metrics.csv", "cpu_metrics.csv", "hw_dmon.csv", "hw_samples.csv"}) {
    const std::uintmax_t size = std::filesystem::file_size(folder / name, error);
    if (!error) bytes += size;
  }
  return bytes;
}

/// Shows what it is doing where that takes long.
ResourceSummary summarized(const std::filesystem::path& folder) {
  constexpr std::chrono::seconds kLong{2};
  constexpr std::chrono::milliseconds kShowEvery{200};
  const auto all_bytes = static_cast<double>(bytes_of_files(folder));
  const TimePoint begin = machine_clock().now();
  TimePoint next_show = begin + kLong;
  Progress progress("wattle summary");
  return summary_of_folder(folder, [&](std::uint64_t bytes) {
    const TimePoint now = machine_clock().now();
    if (now < next_show) return;
    next_show = now + kShowEvery;
    const double part = std::clamp(static_cast<double>(bytes) / all_bytes, 0.001, 1.0);
    progress.show("reading, " + left_text(part, now - begin), part);
  });
}

}  // namespace

int execute(const SummaryOptions& options) {
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    print_message("summary", fmt::format("cannot read the folder {}: {}", printable(options.folder),
                                         error ? error.message() : "it is not a folder"));
    return kNothingFound;
  }
  Output output = Output::open("-", false);
  ResourceSummary summary = summarized(folder);
  if (options.allocator_peak_mb) summary.set_allocator_peak(*options.allocator_peak_mb);
  const bool has_rows =
      std::ranges::any_of(summary.files, [](const SummaryFile& file) { return file.rows > 0; });
  if (!has_rows && !options.json) {
    std::string text = fmt::format("no row can be read in {}", printable(options.folder));
    for (const SummaryFile& file : summary.files) {
      text += fmt::format("\n  {}: {}", printable(file.path.filename().string()), file.problem);
    }
    print_message("summary", text);
    return kNothingFound;
  }
  output.write(options.json ? summary.to_json() : summary_text(summary, style_of(STDOUT_FILENO)));
  return has_rows ? 0 : kNothingFound;
}

}  // namespace wattle::app
