#include "client/update_hub.hpp"

#include <utility>

#include "client/power_reader.hpp"

namespace wattle::client {

UpdateHub::UpdateHub(std::vector<Server> servers, Delivery delivery)
    : servers_(std::move(servers)),
      delivery_(std::move(delivery)),
      forks_(forks()),
      metas_(servers_.size()) {}

std::uint32_t UpdateHub::new_slot(const Slot& slot) {
  const std::scoped_lock lock(mutex_);
  slots_.push_back(slot);
  latest_.push_back({.is_gone = true});
  for (Reader* reader : readers_) reader->queue_.expect_slots(slots_.size());
  return static_cast<std::uint32_t>(slots_.size() - 1);
}

void UpdateHub::set_state(std::size_t server, DeviceType type, ConnectionState state) {
  const std::scoped_lock lock(mutex_);
  Meta& meta = metas_[server];
  (type == DeviceType::gpu ? meta.gpu : meta.cpu) = std::move(state);
  meta.version = ++meta_version_;
  states_changed_ = true;
}

void UpdateHub::set_clock(std::size_t server, const ClockOffset& clock) {
  const std::scoped_lock lock(mutex_);
  metas_[server].clock = clock;
  metas_[server].version = ++meta_version_;
}

UpdateHub::Reasons& UpdateHub::Meta::reasons(DeviceType type, bool is_dram) noexcept {
  if (type == DeviceType::gpu) return gpu_reason;
  return is_dram ? dram_reason : cpu_reason;
}

void UpdateHub::set_reason(std::size_t server, const wire::UnknownPower& unknown) {
  const std::scoped_lock lock(mutex_);
  Reasons& reasons = metas_[server].reasons(unknown.type, unknown.is_dram);
  if (unknown.reason.empty()) {
    if (reasons.erase(unknown.id) == 0) return;
  } else {
    std::string& reason = reasons[unknown.id];
    if (reason == unknown.reason) return;
    reason = unknown.reason;
  }
  metas_[server].version = ++meta_version_;
  states_changed_ = true;
}

void UpdateHub::set_domains(std::size_t server, Domains gpus, Domains cpus) {
  const std::scoped_lock lock(mutex_);
  Meta& meta = metas_[server];
  if (meta.gpu_domain == gpus && meta.cpu_domain == cpus) return;
  meta.gpu_domain = std::move(gpus);
  meta.cpu_domain = std::move(cpus);
  meta.version = ++meta_version_;
}

void UpdateHub::Meta::copy_to(PowerReadings& readings) const {
  readings.gpu_domain = gpu_domain;
  readings.cpu_domain = cpu_domain;
  readings.gpu_reason = gpu_reason;
  readings.cpu_reason = cpu_reason;
  readings.dram_reason = dram_reason;
  readings.gpu = gpu;
  readings.cpu = cpu;
  readings.clock_offset_s = clock.offset_s;
  readings.clock_offset_uncertainty_s = clock.uncertainty_s;
}

View UpdateHub::view() const {
  View made(servers_);
  for (std::size_t i = 0; i < metas_.size(); ++i) metas_[i].copy_to(made.server(i));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!latest_[i].is_gone) made.apply(latest_[i], slots_[i]);
  }
  return made;
}

void UpdateHub::commit() {
  if (has_ended()) batch_.clear();
  if (batch_.empty() && !states_changed_) return;
  {
    const std::scoped_lock lock(mutex_);
    hand_out();
  }
  if (delivery_.on_update) {
    for (const Update& update : batch_) {
      if (has_ended()) break;
      delivery_.on_update(public_update(update));
    }
  }
  batch_.clear();
  resume_due();
}

void UpdateHub::close() {
  {
    const std::scoped_lock lock(mutex_);
    for (Reader* reader : readers_) wake(*reader);
  }
  resume_due();
}

void UpdateHub::end() noexcept {
  if (has_ended()) return;
  const std::scoped_lock lock(mutex_);
  ended_.store(true, std::memory_order_release);
  for (Reader* reader : readers_) reader->changed_.notify_all();
}

PowerSnapshot UpdateHub::snapshot() const {
  if (is_forked()) return View(servers_).readings();
  const std::scoped_lock lock(mutex_);
  return view().readings();
}

/// The stream's thread calls it without the mutex: only that thread adds slots.
PowerUpdate UpdateHub::public_update(const Update& update) const {
  const Slot& slot = slots_[update.slot];
  return {.server = slot.server,
          .device = slot.device,
          .is_gpu = slot.type == DeviceType::gpu,
          .is_gone = update.is_gone,
          .ends_event = update.ends_event,
          .timestamp_s = update.timestamp_s,
          .power = known_power(update.power_w),
          .dram = known_power(update.dram_w)};
}

void UpdateHub::hand_out() {
  for (const Update& update : batch_) {
    latest_[update.slot] = update;
    for (Reader* reader : readers_) reader->queue_.push(update);
  }
  const bool states_changed = std::exchange(states_changed_, false);
  for (Reader* reader : readers_) {
    if (states_changed && reader->wants_states_) reader->has_new_state_ = true;
    if (reader->has_step()) wake(*reader);
  }
}

void UpdateHub::wake(Reader& reader) {
  if (reader.is_blocked_) reader.changed_.notify_one();
  if (!reader.waiting_) return;
  // A reader that is being destroyed waits for the mutex: do not resume it.
  if (auto kept = reader.weak_from_this().lock()) {
    reader.due_ = std::exchange(reader.waiting_, {});
    due_.push_back(std::move(kept));
  }
}

void UpdateHub::resume_due() {
  for (std::shared_ptr<Reader>& reader : due_) {
    if (delivery_.executor) {
      delivery_.executor([reader] { reader->resume(); });
    } else {
      reader->resume();
    }
    reader.reset();
  }
  due_.clear();
}

}  // namespace wattle::client
