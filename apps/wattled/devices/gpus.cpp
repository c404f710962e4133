#include "devices/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>
#include <utility>

namespace wattle::daemon {
namespace {

/// Clients of zeusd wait 5 s for an answer.
constexpr std::chrono::seconds kPatience{4};

/// Most callers that wait for one answer. A GPU that hangs for hours must not collect repeated
/// requests without limit.
constexpr std::size_t kMostWaiting = 4096;

/// Each kind of question has at most one call in progress and one that waits, and a setting takes
/// one place: so there are more only if the driver is stuck.
constexpr std::size_t kMostJobs = 16;

constexpr double kMilli = 1000.0;

DeviceFault not_offered(const Sensor& sensor, GpuQuestion question) {
  const bool shows_module =
      (question == GpuQuestion::power || question == GpuQuestion::streamed_power) &&
      shows_module_power_alone(sensor.channels());
  return driver_fault(400, sensor,
                      shows_module
                          ? "this GPU shows only the power of the module that it is a part of"
                          : "this GPU, or its driver, does not offer it");
}

// A request that was not sent to the driver is refused with 503: it may be sent again.

DeviceFault not_asked() {
  return {503, "GPU error: the driver has not answered earlier requests; this one was not sent"};
}
DeviceFault too_many_wait() {
  return {503, fmt::format("GPU error: {} other requests wait for this answer", kMostWaiting)};
}

/// The channel that answers a question best; absent: none does.
std::optional<std::size_t> channel_for(const Sensor& sensor, GpuQuestion question) {
  const auto find = [&](Metric metric) -> std::optional<std::size_t> {
    const auto channels = sensor.channels();
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].metric == metric && channels[i].scope == wattle::Scope::device) return i;
    }
    return std::nullopt;
  };
  if (question == GpuQuestion::energy) return find(Metric::energy);
  const auto instant = find(Metric::power_instant);
  return instant ? instant : find(Metric::power_average);
}

std::optional<DeviceFault> fault_of(ReadStatus status, const Sensor& sensor) {
  switch (status) {
    case ReadStatus::ok:
    case ReadStatus::stale:
      return std::nullopt;
    case ReadStatus::retry:
      return driver_fault(500, sensor, "the driver gave no value this time");
    case ReadStatus::gone:
      break;
  }
  return driver_fault(500, sensor, "the GPU is lost");
}

GpuAnswer ask_channel(Sensor& sensor, std::size_t channel) {
  std::vector<Reading> readings(sensor.channels().size());
  ChannelSet wanted;
  wanted.set(channel);
  sensor.read_some(wanted, readings);
  const Reading& reading = readings[channel];
  const double si = sensor.channels()[channel].scale() * static_cast<double>(reading.raw);
  return {.value = static_cast<std::uint64_t>(std::llround(si * kMilli)),
          .at = reading.at,
          .fault = fault_of(reading.status, sensor)};
}

GpuAnswer ask_all(Sensor& sensor) {
  const auto channels = sensor.channels();
  GpuAnswer answer;
  answer.readings.resize(channels.size());
  const ChannelSet wanted = channels_where(sensor, [](const Channel& c) { return !c.costly; });
  sensor.read_some(wanted, answer.readings);
  // Channels that were not requested have no value.
  std::optional<DeviceFault> fault;
  bool is_known = false;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    Reading& reading = answer.readings[i];
    if (i < wanted.size() && wanted[i]) {
      auto failure = fault_of(reading.status, sensor);
      is_known = is_known || !failure;
      if (!fault || reading.status == ReadStatus::gone) fault = std::move(failure);
    } else {
      reading.status = ReadStatus::retry;
    }
  }
  if (!is_known) answer.fault = std::move(fault);
  return answer;
}

GpuAnswer ask_settings(Sensor& sensor, GpuQuestion question) {
  const DeviceSettings settings = sensor.settings();
  GpuAnswer answer;
  if (question == GpuQuestion::power_limit && settings.power_limit_mw) {
    answer.value = *settings.power_limit_mw;
  } else if (question == GpuQuestion::power_limit_range && settings.power_limit_range_mw) {
    std::tie(answer.value, answer.high) = *settings.power_limit_range_mw;
  } else if (question == GpuQuestion::persistence_mode && settings.persistence_mode) {
    answer.value = *settings.persistence_mode ? 1 : 0;
  } else {
    answer.fault = not_offered(sensor, question);
  }
  return answer;
}

}  // namespace

DeviceFault no_answer() { return {500, "GPU error: the driver did not answer in time"}; }

DeviceFault driver_fault(unsigned status, const Sensor& sensor, std::string_view what) {
  const bool is_nvml = sensor.channels().front().domain.kind() == DomainKind::nvidia_gpu;
  return {status, fmt::format("{} error: {}", is_nvml ? "NVML" : "GPU", what)};
}

GpuAnswer ask(Sensor& sensor, GpuQuestion question) {
  if (question == GpuQuestion::all) return ask_all(sensor);
  if (question == GpuQuestion::processes) return {.processes = sensor.processes()};
  const bool is_power = question == GpuQuestion::power || question == GpuQuestion::streamed_power;
  if (!is_power && question != GpuQuestion::energy) {
    return ask_settings(sensor, question);
  }
  const auto channel = channel_for(sensor, question);
  return channel ? ask_channel(sensor, *channel)
                 : GpuAnswer{.fault = not_offered(sensor, question)};
}

Gpus::Gpus(std::vector<Gpu> gpus, Loop& loop) : loop_(loop) {
  for (Gpu& gpu : gpus) add(std::move(gpu));
}

void Gpus::add(Gpu gpu) {
  const wire::DeviceId id = gpu.entry.id;
  gpus_.emplace(id, AskedGpu{.entry = std::move(gpu.entry),
                             .sensor = gpu.sensor,
                             .paced = gpu.paced ? gpu.paced : gpu.sensor,
                             .thread = gpu.thread ? gpu.thread : std::make_shared<Worker>()});
  ids_.insert(std::ranges::upper_bound(ids_, id), id);
}

std::vector<wire::GpuEntry> Gpus::entries() const {
  std::vector<wire::GpuEntry> entries;
  entries.reserve(gpus_.size());
  for (const auto& [id, gpu] : gpus_) entries.push_back(gpu.entry);
  return entries;
}

GpuHandle Gpus::handle(wire::DeviceId id) const {
  const AskedGpu& gpu = gpus_.at(id);
  return {id, gpu.thread, gpu.sensor};
}

/// A question to one GPU, and the callers that wait for its answer.
struct Gpus::PendingQuestion {
  explicit PendingQuestion(TimePoint now) : asked(now) {}
  const TimePoint asked;
  std::atomic<bool> has_begun{false};
  std::vector<std::function<void(const GpuAnswer&)>> waiting;  ///< only for the loop's thread
};

std::optional<DeviceFault> Gpus::ask_one(wire::DeviceId id, GpuQuestion question,
                                         std::function<void(const GpuAnswer&)> then) {
  AskedGpu& gpu = gpus_.at(id);
  std::shared_ptr<PendingQuestion>& pending = gpu.pending[question];
  // Until the driver call starts, callers with the same question join. So the answer is newer than
  // each of their requests, and any number of callers costs at most two driver calls.
  if (!pending || pending->has_begun) {
    auto next = std::make_shared<PendingQuestion>(loop_.now());
    // The callbacks go back to the loop, with its timers: the thread may outlive both.
    const auto work = [question, next, has_failed = gpu.has_failed,
                       sensor = question == GpuQuestion::streamed_power ? gpu.paced : gpu.sensor,
                       post = loop_.poster()]() mutable {
      next->has_begun = true;
      const GpuAnswer answer = daemon::ask(*sensor, question);
      post([next = std::move(next), has_failed = std::move(has_failed), answer] {
        // A request that the driver does not offer (400) is no failure.
        *has_failed = answer.fault && answer.fault->status >= 500;
        for (const auto& answer_to : std::exchange(next->waiting, {})) answer_to(answer);
      });
    };
    if (!gpu.thread->add(work, kMostJobs)) return not_asked();
    pending = std::move(next);
  }
  if (pending->waiting.size() >= kMostWaiting) return too_many_wait();
  pending->waiting.push_back(std::move(then));
  return std::nullopt;
}

bool Gpus::fail() const {
  const TimePoint now = loop_.now();
  const auto is_overdue = [&](const auto& asked) {
    const auto& [question, pending] = asked;
    return pending && !pending->waiting.empty() && now - pending->asked >= kPatience;
  };
  return std::ranges::any_of(gpus_, [&](const auto& gpu) {
    return *gpu.second.has_failed || std::ranges::any_of(gpu.second.pending, is_overdue);
  });
}

/// One question to several GPUs.
struct Gpus::GatheredAnswers {
  Answers answers;
  std::size_t missing = 0;
  std::function<void(Answers)> then;
  std::unique_ptr<Timer> deadline;

  void finish() {
    if (!then) return;
    deadline->cancel();
    std::exchange(then, nullptr)(std::move(answers));
  }
};

void Gpus::ask(const Ids& ids, GpuQuestion question, std::function<void(Answers)> then) {
  const auto round = std::make_shared<GatheredAnswers>();
  round->then = std::move(then);
  round->deadline = loop_.make_timer();
  for (const wire::DeviceId id : ids) {
    auto refused = ask_one(id, question, [round, id](const GpuAnswer& answer) {
      if (!round->then) return;
      round->answers[id] = answer;
      if (--round->missing == 0) round->finish();
    });
    if (!refused) ++round->missing;
    round->answers[id].fault = refused ? std::move(refused) : no_answer();
  }
  if (round->missing == 0) return round->finish();
  round->deadline->start(loop_.now() + kPatience, [round] { round->finish(); });
}

}  // namespace wattle::daemon
