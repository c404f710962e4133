// wattle summary: what the files of a run monitor say.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "commands.hpp"
#include "hardware/summary_text.hpp"
#include "output.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingToTell = 2;

}  // namespace

int summary(const SummaryOptions& options) {
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    write_to_stderr(fmt::format("wattle summary: cannot read the folder {}: {}\n",
                                printable(options.folder),
                                error ? error.message() : "it is not a folder"));
    return kNothingToTell;
  }
  Output output = Output::open("-", false);
  ResourceSummary summary =
      build_resource_summary(folder / "hw_metrics.csv", folder / "cpu_metrics.csv",
                             folder / "hw_dmon.csv", folder / "hw_samples.csv");
  if (options.allocator_peak_mb) summary.set_allocator_peak(*options.allocator_peak_mb);
  const bool tells_something =
      std::ranges::any_of(summary.files, [](const SummaryFile& file) { return file.rows > 0; });
  if (!tells_something && !options.json) {
    write_to_stderr(
        fmt::format("wattle summary: no row of hw_metrics.csv, cpu_metrics.csv or hw_dmon.csv can "
                    "be read in {}\n",
                    printable(options.folder)));
    return kNothingToTell;
  }
  output.write(options.json ? summary.to_json() : summary_text(summary, style_of(STDOUT_FILENO)));
  return tells_something ? 0 : kNothingToTell;
}

}  // namespace wattle::app
