// The hardware monitor's thread, and when it may be started.
#include "wattle/hardware_monitor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/forks.hpp"
#include "base/log.hpp"
#include "base/worker.hpp"
#include "run_monitor/recording.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// A file system that does not answer for this time is given up.
constexpr std::chrono::seconds kEndPatience{2};

void check(const HardwareMonitorOptions& options) {
  using Limits = HardwareMonitorOptions;
  const auto interval = options.interval;
  if (interval >= Limits::kShortestInterval && interval <= Limits::kLongestInterval) return;
  throw InvalidArgument(
      fmt::format("cannot monitor hardware every {} s: the interval is from {} to {} s",
                  Seconds(interval).count(), Seconds(Limits::kShortestInterval).count(),
                  Seconds(Limits::kLongestInterval).count()));
}

/// Devices that exist but are not monitored.
void log_refusals(const Survey& found) {
  std::vector<SensorRefusal> refused = found.refused;
  (void)take_absent(refused);
  std::vector<Domain> measured;
  for (const auto& sensor : found.sensors) {
    for (const Channel& channel : sensor->channels()) {
      if (channel.gives_energy()) measured.push_back(channel.domain);
    }
  }
  for (const SharedCause& cause : by_cause(refused)) {
    if (is_of_counter(cause.refusal, measured)) {
      log(fmt::format("{}: no counter, its energy is calculated from its power: {}",
                      fmt::join(cause.subjects, ", "), cause.refusal.reason));
    } else {
      log("not monitored: " + cause_text(cause));
    }
  }
}

}  // namespace

class HardwareMonitor::Impl {
 public:
  explicit Impl(HardwareMonitorOptions options)
      : options_(std::move(options)), found_(probe_devices()), forks_(forks()) {}

  void start(const std::filesystem::path& folder) {
    if (ticking_) {
      throw InvalidState("cannot start the hardware monitor: it is started already; stop it");
    }
    Survey found = found_ ? std::move(*found_) : probe_devices();
    found_.reset();
    log_refusals(found);
    auto recording =
        std::make_shared<Recording>(std::move(found), machine_clock(), folder, options_);
    if (recording->is_empty() && options_.if_unavailable == IfUnavailable::fail) {
      throw NoSuchDevice("cannot monitor hardware: nothing here can be read; see wattle doctor");
    }
    recording->begin();
    ticking_ = std::make_unique<Worker>(
        Worker::every(recording->period(), [recording] { recording->tick(false); }),
        "the sampling thread");
    recording_ = std::move(recording);
  }

  HardwareFiles stop() {
    if (!ticking_ && !files_) {
      throw NotStarted("cannot stop the hardware monitor: it was not started");
    }
    if (!ticking_) return *files_;
    (void)ticking_->add([recording = recording_] { recording->tick(true); });
    if (!ticking_->finish(kEndPatience)) {
      log("the hardware monitor's files may lack their last rows: the file system does not answer");
    }
    ticking_.reset();
    files_ = std::exchange(recording_, nullptr)->files();
    return *files_;
  }

  [[nodiscard]] bool is_started() const noexcept { return ticking_ != nullptr; }
  [[nodiscard]] bool is_copy() const noexcept { return forks_ != forks(); }

 private:
  [[nodiscard]] Survey probe_devices() const {
    check(options_);
    const bool ignores = options_.if_unavailable == IfUnavailable::ignore;
    Survey found = survey_chosen(options_.system, machine_clock(),
                                 {.gpus = options_.gpus,
                                  .who = "cannot monitor hardware",
                                  .absent = ignores ? AbsentGpu::is_missing : AbsentGpu::fails});
    for (const Refusal& gpu : found.missing) log(gpu.reason);
    return with_kept_updates(std::move(found));
  }

  HardwareMonitorOptions options_;
  std::optional<Survey> found_;  ///< for the first start
  std::uint64_t forks_;          ///< when it was made
  std::shared_ptr<Recording> recording_;
  std::optional<HardwareFiles> files_;  ///< of the last one that was stopped
  std::unique_ptr<Worker> ticking_;
};

HardwareMonitor::HardwareMonitor(HardwareMonitorOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

HardwareMonitor::~HardwareMonitor() {
  if (impl_->is_copy()) {
    // The thread is the parent's, and so is everything that it uses.
    (void)impl_.release();
    return;
  }
  try {
    if (impl_->is_started()) (void)impl_->stop();
  } catch (const std::exception& error) {
    log(error.what());
  }
}

void HardwareMonitor::start(const std::filesystem::path& output_dir) {
  if (!impl_->is_copy()) impl_->start(output_dir);
}

void HardwareMonitor::start() {
  if (output_dir_.empty()) {
    throw InvalidState("cannot monitor hardware: no folder was given; use start(folder)");
  }
  start(output_dir_);
}

HardwareFiles HardwareMonitor::stop() { return impl_->is_copy() ? HardwareFiles{} : impl_->stop(); }

bool HardwareMonitor::is_started() const noexcept {
  return !impl_->is_copy() && impl_->is_started();
}

}  // namespace wattle
