#include "sensors/nvml/gpu_sensor.hpp"

#include <algorithm>
#include <utility>

#include "sensors/nvml/diagnosis.hpp"
#include "sensors/nvml/processes.hpp"

namespace wattle::nvml {

using std::chrono::seconds;

NvmlGpuSensor::NvmlGpuSensor(std::shared_ptr<Session> session, NvmlGpu gpu, const TimeSource& clock)
    : session_(std::move(session)), gpu_(std::move(gpu)), clock_(clock), handle_(gpu_.handle) {}

void NvmlGpuSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  if (!is_here()) {
    fill_gone(wanted, readings);
    return;
  }
  TimePoint before = clock_.now();
  for (const Query query : kQueries) {
    const Items items = items_of(query, wanted);
    if (items.none()) continue;
    if (!read_query(query, items, wanted, before, readings)) {
      note_gone();
      fill_gone(wanted, readings);
      return;
    }
  }
  patience_ = seconds(0);
}

Items NvmlGpuSensor::items_of(Query query, ChannelSet wanted) const noexcept {
  Items items;
  for (std::size_t i = 0; i < gpu_.origins.size(); ++i) {
    if (wanted[i] && gpu_.origins[i].query == query) items.set(gpu_.origins[i].item);
  }
  return items;
}

bool NvmlGpuSensor::read_query(Query query, Items items, ChannelSet wanted, TimePoint& before,
                               std::span<Reading> readings) noexcept {
  Answers answers;
  ask(session_->api(), handle_, query, items, answers);
  const TimePoint after = clock_.now();
  bool here = true;
  for (std::size_t i = 0; i < std::min(gpu_.origins.size(), readings.size()); ++i) {
    if (!wanted[i] || gpu_.origins[i].query != query) continue;
    const QueryAnswer& answer = answers[gpu_.origins[i].item];
    readings[i] = reading_between(before, after, answer.raw, status_of(answer.result));
    here = here && readings[i].status != ReadStatus::gone;
  }
  before = after;
  return here;
}

void NvmlGpuSensor::fill_gone(ChannelSet wanted, std::span<Reading> readings) const noexcept {
  const TimePoint now = clock_.now();
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (wanted[i]) readings[i] = {.at = now, .status = ReadStatus::gone};
  }
}

void NvmlGpuSensor::note_gone() noexcept {
  constexpr seconds kLongest{60};
  const seconds wait = std::clamp(patience_.load() * 2, seconds(1), kLongest);
  patience_ = wait;
  look_again_ = clock_.now() + wait;
}

bool NvmlGpuSensor::is_here() noexcept {
  const TimePoint look_again = look_again_;
  if (look_again == TimePoint::min()) return true;
  if (clock_.now() < look_again) return false;
  const Api& api = session_->api();
  const auto find = [&](Handle* handle) {
    return gpu_.info.id.empty() ? call(api.device_by_index, gpu_.index, handle)
                                : call(api.device_by_uuid, gpu_.info.id.c_str(), handle);
  };
  Handle handle = nullptr;
  Return found = find(&handle);
  if (found == Return::uninitialized && session_->init() == Return::success) {
    found = find(&handle);
  }
  if (found != Return::success) {
    note_gone();
    return false;
  }
  handle_ = handle;
  look_again_ = TimePoint::min();
  return true;
}

std::optional<std::vector<DeviceProcess>> NvmlGpuSensor::processes() {
  auto processes = list_processes(session_->api(), handle_);
  if (!processes) return processes;
  // Nobody waits for a thread that stays in the driver.
  const std::unique_lock lock(samples_mutex_, std::try_to_lock);
  if (lock) engine_times_.fill(session_->api(), handle_, clock_, *processes);
  return processes;
}

std::optional<BusyTime> NvmlGpuSensor::busy_time() {
  const std::unique_lock lock(samples_mutex_, std::try_to_lock);
  return lock ? busy_samples_.until_now(session_->api(), handle_, clock_) : std::nullopt;
}

}  // namespace wattle::nvml
