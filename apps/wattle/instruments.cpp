#include "instruments.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "usage/usage_groups.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kSparklineWidth = 48;
/// How long the begin and the end of a run wait for drivers that are slow to answer.
constexpr nanoseconds kDriverPatience = std::chrono::milliseconds(500);

/// Power is integrated from at least ten values a second, however long the interval.
nanoseconds lane_period(nanoseconds interval) noexcept {
  return std::min<nanoseconds>(interval, std::chrono::milliseconds(100));
}

}  // namespace

Instruments::Instruments(std::vector<std::unique_ptr<Sensor>> sensors, const System& system,
                         nanoseconds interval, pid_t command, std::set<pid_t> strangers,
                         std::optional<Series> series)
    : clock_(machine_clock()),
      sampler_(std::move(sensors), clock_,
               {.period = lane_period(interval),
                .metrics = GpuMonitor::metrics(),
                .lists_processes = true,
                .keeps_going = true}),
      machine_(system),
      gpus_(sampler_),
      profile_(kSparklineWidth),
      series_(std::move(series)) {
  try {
    // Our own processes, not those of the machine that is measured: of the real /proc.
    tree_.emplace(System{}, clock_, command,
                  TreeOptions{.adopter = ::getpid(), .strangers = std::move(strangers)});
  } catch (const InvalidArgument& error) {
    no_tree_ = error.what();
  }
}

TimePoint Instruments::begin() {
  (void)sampler_.read_lanes(clock_.now() + kDriverPatience);
  looked_at_gpus_ = clock_.now();  // what they show now is from before the command
  // What runs now is the launcher, whose memory is not the command's.
  if (tree_) {
    statistics_.begin(tree_->read_all(), false);
    tree_->forget_peaks();
  }
  read(false);  // the counters last, as near to the begin as can be
  began_ = ended_ = clock_.now();
  has_begun_ = true;
  return began_;
}

void Instruments::read(bool ends_interval) {
  sampler_.read(ends_interval);
  const TimePoint now = clock_.now();
  machine_.sample(now);
  if (has_begun_ && tree_) statistics_.add(tree_->read());
  ++reads_;
  // More often than that there is nothing new.
  constexpr nanoseconds kNews = std::chrono::milliseconds(90);
  if (now - looked_at_gpus_ >= kNews) {
    look_at_gpus();
    looked_at_gpus_ = now;
  }
  if (!ends_interval) return;
  profile_.add(sampler_.interval_power());
  if (series_) series_->add(sampler_, machine_, now, now - began_);
}

void Instruments::look_at_gpus() {
  const auto kinship_of = [&](pid_t pid) {
    return tree_ ? tree_->kinship_of(pid) : Kinship::unknown;
  };
  gpus_.sample(kinship_of, began_);
}

TimePoint Instruments::end() {
  ended_ = clock_.now();
  has_begun_ = false;
  read(false);  // the counters first, as near to the end as can be
  // It has ended, but nobody has waited for it: its times are still there.
  if (tree_) statistics_.add(tree_->read_all());
  statistics_.end();
  (void)sampler_.read_lanes(ended_ + kDriverPatience);
  look_at_gpus();
  return ended_;
}

void Instruments::fill_processes(ResourceUsage& usage, std::uint64_t main_peak_bytes) const {
  if (!tree_) {
    usage.unknown.push_back(
        {{"max_ram.main", "max_ram.descendants", "max_ram.combined", "cpu_utilization.main",
          "cpu_utilization.descendants", "cpu_utilization.combined", "peak_pss_bytes", "processes",
          "io_read_bytes", "io_written_bytes", "storage_read_bytes", "storage_written_bytes"},
         no_tree_});
    return;
  }
  PeakMemory peaks = tree_->peaks();
  if (tree_->was_alone()) {
    peaks.see(main_peak_bytes, true);
  } else {
    peaks.other_bytes = main_peak_bytes;
  }
  statistics_.fill(usage, tree_->pss_gaps(), peaks);
  usage.processes = tree_->processes_seen();
  fill_mechanisms(usage, *tree_);
  fill_io(usage, *tree_);
}

nanoseconds Instruments::longest_period() const noexcept {
  constexpr nanoseconds kListsCome = std::chrono::seconds(1);
  const nanoseconds keeper = sampler_.keeper_period();
  return sampler_.devices().empty() ? keeper : std::min(keeper, kListsCome);
}

}  // namespace wattle::app
