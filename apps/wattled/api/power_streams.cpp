#include "api/power_streams.hpp"

#include <algorithm>
#include <utility>

#include "serve/wall_time.hpp"

namespace wattle::daemon {
namespace {

/// A driver that takes longer than this for a power is reported as stuck.
constexpr std::chrono::seconds kStuck{1};

}  // namespace

GpuStream::GpuStream(Gpus& gpus, Loop& loop, const StreamRates& options)
    : gpus_(gpus),
      loop_(loop),
      stream_(DeviceType::gpu, options.format),
      pace_(loop, options.gpu_period, [this] { tick(); }) {}

void GpuStream::subscribe(Subscriber& subscriber, const Ids& ids, std::chrono::milliseconds hold) {
  stream_.subscribe(subscriber, ids, hold);
  if (!pace_.is_running()) {
    tick();
    pace_.start();
  }
}

void GpuStream::tick() {
  const TimePoint now = loop_.now();
  const Ids wanted = stream_.wanted();
  if (wanted.empty()) pace_.stop();
  // A GPU without subscribers and without an open question cannot answer.
  std::erase_if(open_questions_, [&](const auto& entry) {
    return !entry.second.is_outstanding && !std::ranges::binary_search(wanted, entry.first);
  });
  for (const wire::DeviceId id : wanted) {
    OpenQuestion& question =
        open_questions_.try_emplace(id, OpenQuestion{.since = now}).first->second;
    if (!question.is_outstanding) {
      question.is_outstanding = true;
      gpus_.ask_one(id, GpuQuestion::streamed_power,
                    [this, id](const DeviceAnswer& answer) { take(id, answer); });
    }
    if (now - question.since >= kStuck) {
      unsent_.push_back({.id = id, .reason = "its driver does not answer"});
      gpus_.report_silent(id);
    }
  }
  // Answers that missed the last tick because another GPU is stuck.
  publish();
}

void GpuStream::publish() {
  if (unsent_.empty()) return;
  stream_.publish(unsent_, loop_.now());
  unsent_.clear();
}

void GpuStream::take(wire::DeviceId id, const DeviceAnswer& answer) {
  if (answer.end != QuestionEnd::answered) {
    open_questions_[id].is_outstanding = false;
    return;
  }
  open_questions_.erase(id);
  PowerChange update{.id = id};
  const Sensor& sensor = gpus_.sensor(id);
  if (auto fault = fault_of(answer, sensor, GpuQuestion::streamed_power)) {
    update.reason = std::move(fault->message);
  } else {
    update.timestamp_ms = unix_ms(reading_of(answer, sensor, GpuQuestion::streamed_power)->at);
    update.power_mw = value_of(answer, sensor, GpuQuestion::streamed_power);
  }
  unsent_.push_back(std::move(update));
  if (open_questions_.empty()) publish();
}

CpuStream::CpuStream(CpuView& view, Loop& loop, std::chrono::nanoseconds period,
                     wire::StreamFormat format)
    : view_(view),
      loop_(loop),
      stream_(DeviceType::cpu, format),
      pace_(loop, period, [this] { tick(); }) {}

void CpuStream::subscribe(Subscriber& subscriber, const Ids& ids, std::chrono::milliseconds hold) {
  stream_.subscribe(subscriber, ids, hold);
  if (ids.empty()) return;
  // The measurement of newly requested CPUs starts now.
  for (const auto& [id, state] : view_.read(ids)) before_.try_emplace(id, state);
  pace_.start();
}

void CpuStream::tick() {
  const Ids wanted = stream_.wanted();
  if (wanted.empty()) {
    before_.clear();
    pace_.stop();
    return;
  }
  CpuStates now = view_.read(wanted);
  std::vector<PowerChange> updates;
  for (const auto& [id, state] : now) {
    const auto before = before_.find(id);
    if (before == before_.end()) continue;
    // No new reading since the last tick.
    if (state.cpu.is_known && state.cpu.at == before->second.cpu.at) continue;
    const CounterPowers powers = view_.powers(id, before->second, state);
    PowerChange update{.id = id,
                       .timestamp_ms = unix_ms(state.cpu.at),
                       .power_mw = milliwatts(powers.cpu),
                       .reason = std::string(powers.cpu.reason)};
    if (powers.dram) {
      update.dram_mw = milliwatts(*powers.dram);
      update.dram_reason = powers.dram->reason;
    }
    updates.push_back(std::move(update));
  }
  keep(std::move(now));
  stream_.publish(updates, loop_.now());
}

/// A counter that updates too rarely gives its mean power when it has moved.
void CpuStream::keep(CpuStates now) {
  for (auto& [id, state] : now) {
    const auto before = before_.find(id);
    if (before == before_.end()) continue;
    if (state.cpu.is_stuck) state.cpu = before->second.cpu;
    if (state.dram && state.dram->is_stuck) state.dram = before->second.dram;
  }
  before_ = std::move(now);
}

}  // namespace wattle::daemon
