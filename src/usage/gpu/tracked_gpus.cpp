#include "usage/gpu/tracked_gpus.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sensors/gpu_selection.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "usage/gpu/gpu_brand.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

bool is_gpu_lane(const Sensor& sensor) {
  return sensor.may_block() && sensor.device() != nullptr && is_gpu(sensor);
}

/// Its counters answer at once.
bool is_of_processors(const Sensor& sensor) {
  return !sensor.may_block() && kProcessorKinds.contains(sensor.channels().front().domain.kind());
}

}  // namespace

TrackedGpus::TrackedGpus(const TrackerOptions& options, const TimeSource& clock)
    : clock_(clock),
      // More often there is nothing new.
      period_(std::max<nanoseconds>(options.sleep_time, milliseconds(100))),
      wants_refused_(resolved(options.gpus).is_all()) {
  Survey found = survey(options.system, clock, kProcessorAndGpuKinds);
  const std::set<Domain> members =
      gpus_of_brand(gpus_found(found), found.refused, options.gpu_brand);
  for (std::unique_ptr<Sensor>& sensor : found.sensors) {
    if (is_gpu_lane(*sensor)) sensors_.push_back(std::move(sensor));
  }
  for (const std::unique_ptr<Sensor>& sensor : sensors_) {
    included_.push_back(members.contains(sensor->channels().front().domain));
  }
  refused_ = static_cast<unsigned>(members.size()) -
             static_cast<unsigned>(std::ranges::count(included_, true));
  if (knows_all_gpus(found.refused)) on_machine_ = static_cast<unsigned>(members.size());
  std::vector<FoundGpu> of_brand = found_gpus(sensors_, found.refused);
  std::erase_if(of_brand, [&](const FoundGpu& gpu) { return !members.contains(gpu.domain); });
  const std::vector<Domain> selected = selected_gpus(options.gpus, of_brand, "cannot track");
  for (std::size_t i = 0; i < included_.size(); ++i) {
    const Domain& gpu = gpu_domain_of(*sensors_[i]);
    counted_.push_back(included_[i] && std::ranges::count(selected, gpu) > 0);
  }
  for (std::unique_ptr<Sensor>& sensor : found.sensors) {
    if (sensor && is_of_processors(*sensor)) sensors_.push_back(std::move(sensor));
  }
  (void)take_absent(found.refused);
  not_read_ = std::move(found.refused);
}

void TrackedGpus::begin() {
  if (readings_) return;  // a start that failed: they stay stopped
  began_ = clock_.now();
  readings_ =
      std::make_unique<Readings>(std::move(sensors_), clock_, GpuMonitor::sampling(period_));
  window_ = std::make_unique<MeasuredWindow>(*readings_);
  monitor_ = std::make_unique<GpuMonitor>(*readings_, SummedGpus{included_, counted_});
  (void)window_->read_lanes(clock_.now() + kDriverPatience);
}

void TrackedGpus::sample(const GpuMonitor::KinshipOf& kinship_of) {
  read_processors();
  monitor_->sample(kinship_of, began_);
}

void TrackedGpus::end(const GpuMonitor::KinshipOf& kinship_of) {
  read_processors();
  constexpr milliseconds kPatience(20);  // a stop takes 50 ms at most
  (void)window_->read_lanes(clock_.now() + kPatience, Lanes::all);
  monitor_->sample(kinship_of, began_);
  stop();
}

void TrackedGpus::stop() noexcept {
  if (readings_) readings_->stop();
}

TrackerCost TrackedGpus::cost() const noexcept {
  if (!readings_) return {};
  return {.cpu = readings_->lane_cpu(), .threads = readings_->lane_threads()};
}

GpuMonitor::Now TrackedGpus::now() const noexcept {
  GpuMonitor::Now now = monitor_->now();
  if (refused_ == 0) return now;
  const auto percent = now.sum_percent;
  now = {};
  if (!wants_refused_) now.sum_percent = percent;
  return now;
}

TrackedEnergy TrackedGpus::energy(TimePoint began, TimePoint ended) const {
  TrackedEnergy energy{.domains = {}, .refused = missing_of(not_read_)};
  for (const MeasuredWindow::Result& result : window_->results(began, ended)) {
    const auto& outer = result.channel.contained_in;
    energy.domains.push_back({.domain = result.channel.domain.name(),
                              .energy = result.figure.best(),
                              .source = result.channel.source,
                              .contained_in = outer ? outer->name() : ""});
  }
  return energy;
}

GpusUsage TrackedGpus::usage(TimePoint began, TimePoint ended) const {
  GpusUsage usage = monitor_->usage(began, ended);
  usage.refused = refused_;
  usage.wants_refused = wants_refused_;
  return usage;
}

std::optional<double> TrackedGpus::memory_total_bytes() const noexcept {
  const bool is_none = std::ranges::count(included_, true) == 0;
  if (refused_ > 0 || (is_none && on_machine_ != 0U)) return std::nullopt;
  return monitor_->memory_total_bytes();
}

}  // namespace wattle
