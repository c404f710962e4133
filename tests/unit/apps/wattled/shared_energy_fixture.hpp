// Shares of a package of 50 W and a GPU of 200 W, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/share_routes.hpp"
#include "fakes/scripted_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "shares/shared_energy.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {

using std::chrono::seconds;

inline constexpr const char* kUid = "0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56";

/// A GPU of 200 W with processes that a test sets. Threads: any.
class SharedGpu final : public Sensor {
 public:
  explicit SharedGpu(const TimeSource& clock) : clock_(clock), begin_(clock.now()) {
    channels_.push_back(fakes::counter_channel(Domain::nvidia_gpu(0)));
    channels_.push_back({.domain = Domain::nvidia_gpu(0), .metric = Metric::utilization});
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    const TimePoint now = clock_.now();
    const Joules energy = Watts(200.0) * Seconds(now - begin_);
    readings[0] = {.at = now,
                   .raw = static_cast<std::uint64_t>(energy / channels_[0].counter.tick),
                   .status = fails ? ReadStatus::retry : ReadStatus::ok};
    readings[1] = {.at = now, .raw = utilization, .status = ReadStatus::ok};
  }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  [[nodiscard]] std::optional<std::vector<DeviceProcess>> processes() override {
    const std::scoped_lock lock(mutex_);
    return processes_;
  }
  void put(std::optional<std::vector<DeviceProcess>> processes) {
    const std::scoped_lock lock(mutex_);
    processes_ = std::move(processes);
  }

  std::atomic<bool> fails{false};
  std::atomic<std::uint64_t> utilization{0};

 private:
  const TimeSource& clock_;
  TimePoint begin_;
  DeviceInfo info_{.id = "GPU-a", .pci_address = "0000:41:00.0"};
  std::vector<Channel> channels_{};
  std::mutex mutex_;
  std::optional<std::vector<DeviceProcess>> processes_ = std::vector<DeviceProcess>();
};

/// A package of 50 W, a GPU of 200 W, and groups whose CPU times a test sets.
class SharedEnergyTest : public testing::Test {
 protected:
  SharedEnergyTest() {
    folder_.write("sys/fs/cgroup/cgroup.controllers", "cpu\n");
    put_busy();
    std::vector<std::shared_ptr<Sensor>> sensors;
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(
        {fakes::counter_channel(Domain::package(0)), [this](TimePoint now) {
           package_j_ += (watts_ * Seconds(now - package_at_)).si();
           package_at_ = now;
           return fakes::Shown{static_cast<std::uint64_t>(package_j_ * 16384.0), status_};
         }});
    package_at_ = loop_.now();
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    cpus_.emplace(std::move(sensors), std::vector<Cpus::Cpu>{{.id = 0, .cpu = {0, 0}}});
    gpu_ = std::make_shared<SharedGpu>(clock_);
    gpus_.emplace(std::vector<Gpus::Gpu>{{.entry = {.id = 0}, .sensor = gpu_}}, loop_);
    scrape_.emplace(*gpus_, others_, *cpus_, loop_);
  }

  void start(std::size_t most_rows = 20, std::size_t most_processes = 0) {
    const System system{.sysfs = folder_.path() / "sys", .procfs = folder_.path() / "proc"};
    shares_.emplace(*scrape_, *gpus_, *cpus_, loop_,
                    SharesOptions{.most_rows = most_rows,
                                  .most_processes = most_processes,
                                  .places = {.system = system,
                                             .baseline = (folder_.path() / "baseline").string(),
                                             .kubelet = {.folder = folder_.path() / "kubelet",
                                                         .pod_logs = folder_.path() / "logs"}}});
    wait();
    // Nothing but the first powers: then groups may use energy.
    next(Watts(10.0));
  }
  /// The next interval of 5 s, with this power of the package.
  void next(Watts power) {
    watts_ = power;
    loop_.advance(seconds(5));
    wait();
  }
  void wait() {
    while (!shares_->divided_at() || *shares_->divided_at() < loop_.now()) {
      loop_.run_posted();
      std::this_thread::yield();
    }
  }
  /// It uses so much from now on.
  void use(const std::string& path, std::uint64_t more_us) {
    used_us_[path] += more_us;
    busy_us_ += more_us;
    folder_.write("sys/fs/cgroup" + path + "/cpu.stat",
                  "usage_usec " + std::to_string(used_us_[path]) + '\n');
    put_busy();
  }
  void put_busy() const {
    folder_.write("proc/stat", "cpu  " + std::to_string(busy_us_ / 10'000) +
                                   " 0 0 1000 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n");
  }
  void put_process(int pid, const std::string& cgroup,
                   const std::string& command = "python3") const {
    folder_.write("proc/" + std::to_string(pid) + "/cgroup", "0::" + cgroup + '\n');
    folder_.write("proc/" + std::to_string(pid) + "/comm", command + '\n');
  }

  /// The same with what names a process for good.
  void put_gpu_process(int pid, int start_ticks, const std::string& name = "python3") const {
    put_process(pid, "/a.service", name);
    folder_.write("proc/" + std::to_string(pid) + "/stat",
                  std::to_string(pid) + " (" + name + ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                      std::to_string(start_ticks) + " 4096 1 0\n");
  }
  /// The GPU has worked so long for each of these processes, in milliseconds.
  void put_work(const std::map<int, int>& work) {
    std::vector<DeviceProcess> processes;
    for (const auto& [pid, ms] : work) {
      processes.push_back({.pid = pid, .engine_time = std::chrono::milliseconds(ms)});
    }
    gpu_->put(std::move(processes));
  }
  double process_j(int pid, std::uint64_t start_ticks) const {
    const auto row = shares_->processes()->rows().find({.pid = pid, .start_ticks = start_ticks});
    return row == shares_->processes()->rows().end()
               ? -1.0
               : static_cast<double>(row->second.at(0).uj) / 1e6;
  }

  std::size_t place_of(std::string_view domain) const {
    const auto& domains = shares_->ledger().domains();
    return static_cast<std::size_t>(std::ranges::find(domains, domain, &LedgerDomain::name) -
                                    domains.begin());
  }
  const LedgerDomain& domain(std::string_view name) const {
    return shares_->ledger().domains().at(place_of(name));
  }
  double joules(std::string_view domain, const CgroupGroup& group) const {
    const auto row = shares_->ledger().rows().find(group);
    return row == shares_->ledger().rows().end()
               ? -1.0
               : static_cast<double>(row->second.at(place_of(domain)).uj) / 1e6;
  }
  std::string metrics() const {
    std::vector<MetricFamily> families;
    add_share_families(*shares_, families);
    return metrics_text(families, MetricsFormat::open_metrics);
  }

  VirtualLoop loop_;
  LoopClock clock_{loop_};
  fakes::TempFolder folder_;
  std::map<std::string, std::uint64_t> used_us_;
  std::uint64_t busy_us_ = 0;
  Watts watts_{50.0};
  double package_j_ = 0.0;
  TimePoint package_at_{};
  ReadStatus status_ = ReadStatus::ok;
  std::optional<Cpus> cpus_;
  std::shared_ptr<SharedGpu> gpu_;
  std::optional<Gpus> gpus_;
  Gpus others_{{}, loop_};
  std::optional<Scrape> scrape_;
  std::optional<SharedEnergy> shares_;
};

}  // namespace wattle::daemon
