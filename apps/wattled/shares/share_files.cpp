#include "shares/share_files.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/files/file.hpp"
#include "base/text/text.hpp"
#include "sensors/proc_tables.hpp"

namespace wattle::daemon {
namespace {

/// How often files are read that seldom change.
constexpr std::chrono::seconds kRarely{30};

}  // namespace

ShareFileReader::ShareFileReader(SharePlaces places)
    : places_(std::move(places)), tree_(places_.system) {}

void ShareFileReader::read_rare(TimePoint now) {
  if (rare_at_ && now - *rare_at_ < kRarely) return;
  rare_at_ = now;
  kubelet_ = read_kubelet_files(places_.kubelet);
  machine_ = identity_of(places_.system);
  baseline_ = places_.baseline.empty() ? read_baseline(machine_.host)
                                       : read_baseline_file(places_.baseline);
}

std::optional<std::uint64_t> ShareFileReader::take_busy_us() {
  const auto text = read_file((places_.system.procfs / "stat").string());
  const auto times = text ? parse_cpu_times(*text) : std::nullopt;
  const auto before = std::exchange(
      busy_ticks_, times ? std::optional(times->busy) : std::optional<std::uint64_t>());
  if (!before || !busy_ticks_ || *busy_ticks_ < *before) return std::nullopt;
  const ClockTicks busy(*busy_ticks_ - *before);
  return std::chrono::duration_cast<std::chrono::duration<std::uint64_t, std::micro>>(busy).count();
}

ShareFiles ShareFileReader::read(TimePoint now) {
  read_rare(now);
  const CgroupTree::CgroupReading reading = tree_.read();
  ShareFiles files{.groups_us = usage_.take(reading),
                   .busy_us = take_busy_us(),
                   .is_whole = reading.is_whole,
                   .kubelet = kubelet_,
                   .baseline = baseline_,
                   .machine = machine_};
  if (tree_.version() == CgroupVersion::none) {
    files.no_groups = fmt::format("there are no control groups at {}", printable(tree_.root()));
  }
  return files;
}

}  // namespace wattle::daemon
