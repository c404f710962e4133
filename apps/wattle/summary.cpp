// wattle summary: what the files of a run monitor say.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands.hpp"
#include "output.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingToTell = 2;

}  // namespace

int summary(const SummaryOptions& options) {
  const std::filesystem::path folder = options.folder;
  Output output = Output::open("-", false);
  ResourceSummary summary = build_resource_summary(
      folder / "hw_metrics.csv", folder / "cpu_metrics.csv", folder / "hw_dmon.csv");
  if (options.allocator_peak_mb) summary.set_allocator_peak(*options.allocator_peak_mb);
  output.write(options.json ? summary.to_json() : summary.to_text());
  const bool tells_something =
      std::ranges::any_of(summary.files, [](const SummaryFile& file) { return file.rows > 0; });
  return tells_something ? 0 : kNothingToTell;
}

}  // namespace wattle::app
