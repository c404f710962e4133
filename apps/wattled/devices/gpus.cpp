#include "devices/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/text/text.hpp"
#include "serve/log.hpp"

namespace wattle::daemon {
namespace {

/// Clients of zeusd wait 5 s for an answer.
constexpr std::chrono::seconds kPatience{4};

/// Each of the readings is of one device.
constexpr std::size_t kDevice = 0;

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

/// A request that was not sent to the driver is refused with 503: it may be sent again.
std::optional<DeviceFault> fault_of(QuestionEnd end) {
  switch (end) {
    case QuestionEnd::answered:
      break;
    case QuestionEnd::not_sent:
      return DeviceFault{
          503, "GPU error: the driver has not answered earlier requests; this one was not sent"};
    case QuestionEnd::too_many:
      return DeviceFault{503, fmt::format("GPU error: {} other requests wait for this answer",
                                          WaitingQuestions::kMostWaiting)};
    case QuestionEnd::late:
      return no_answer();
  }
  return std::nullopt;
}

bool is_of_settings(GpuQuestion question) noexcept {
  return question == GpuQuestion::power_limit || question == GpuQuestion::power_limit_range ||
         question == GpuQuestion::persistence_mode;
}

/// The channels to read for a question: for one value, the one that answers it best.
ChannelSet channels_asked(const Sensor& sensor, GpuQuestion question) {
  if (question == GpuQuestion::processes || is_of_settings(question)) return {};
  if (question == GpuQuestion::all) {
    return channels_where(sensor, [](const Channel& channel) { return !channel.costly; });
  }
  const auto first_of = [&](Metric metric) {
    bool is_found = false;
    return channels_where(sensor, [&](const Channel& channel) {
      const bool fits = channel.metric == metric && channel.scope == wattle::Scope::device;
      return fits && !std::exchange(is_found, true);
    });
  };
  if (question == GpuQuestion::energy) return first_of(Metric::energy);
  const ChannelSet instant = first_of(Metric::power_instant);
  return instant.any() ? instant : first_of(Metric::power_average);
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

/// None of the channels that were asked for has a value.
std::optional<DeviceFault> fault_of_all(const DeviceAnswer& answer, const Sensor& sensor) {
  const ChannelSet asked = channels_asked(sensor, GpuQuestion::all);
  std::optional<DeviceFault> fault;
  for (std::size_t i = 0; i < std::min(answer.readings.size(), asked.size()); ++i) {
    if (!asked[i]) continue;
    const ReadStatus status = answer.readings[i].status;
    auto failure = fault_of(status, sensor);
    if (!failure) return std::nullopt;
    if (!fault || status == ReadStatus::gone) fault = std::move(failure);
  }
  return fault;
}

bool has_setting(const DeviceSettings& settings, GpuQuestion question) noexcept {
  if (question == GpuQuestion::power_limit) return settings.power_limit_mw.has_value();
  if (question == GpuQuestion::power_limit_range) return settings.power_limit_range_mw.has_value();
  return settings.persistence_mode.has_value();
}

/// Reads the device only when it is asked, in a thread that starts then.
std::shared_ptr<Readings> sleeping_readings(const std::shared_ptr<Sensor>& sensor) {
  std::vector<ReadingWork> work(1);
  work[0].lane = {.sleeps = true, .patience = {}};
  work[0].add(sensor, {}, kMinTimelineBytes);
  return std::make_shared<Readings>(std::move(work), machine_clock());
}

/// As the log calls it: other meters than GPUs are asked in the same way.
std::string name_of(const Gpus::Gpu& gpu) {
  const auto channels = gpu.sensor->channels();
  if (!channels.empty() && !is_gpu(*gpu.sensor)) return channels.front().domain.name();
  const std::string model = gpu.entry.name.empty() ? "" : " (" + printable(gpu.entry.name) + ")";
  return fmt::format("GPU {}{}", gpu.entry.id, model);
}

}  // namespace

DeviceFault no_answer() { return {500, "GPU error: the driver did not answer in time"}; }

DeviceFault driver_fault(unsigned status, const Sensor& sensor, std::string_view what) {
  const bool is_nvml = sensor.channels().front().domain.kind() == DomainKind::nvidia_gpu;
  return {status, fmt::format("{} error: {}", is_nvml ? "NVML" : "GPU", what)};
}

DeviceQuestion asked_of(const Sensor& sensor, GpuQuestion question,
                        std::chrono::nanoseconds streamed_age) {
  const bool is_streamed = question == GpuQuestion::streamed_power;
  return {.channels = channels_asked(sensor, question),
          .longest_age = is_streamed ? streamed_age : std::chrono::nanoseconds(0),
          .settings = is_of_settings(question),
          .processes = question == GpuQuestion::processes};
}

std::optional<DeviceFault> fault_of(const DeviceAnswer& answer, const Sensor& sensor,
                                    GpuQuestion question) {
  if (auto fault = fault_of(answer.end)) return fault;
  if (question == GpuQuestion::processes) return std::nullopt;
  if (question == GpuQuestion::all) return fault_of_all(answer, sensor);
  if (is_of_settings(question)) {
    if (has_setting(answer.settings, question)) return std::nullopt;
  } else if (const Reading* const reading = reading_of(answer, sensor, question)) {
    return fault_of(reading->status, sensor);
  }
  return not_offered(sensor, question);
}

const Reading* reading_of(const DeviceAnswer& answer, const Sensor& sensor, GpuQuestion question) {
  const ChannelSet asked = channels_asked(sensor, question);
  for (std::size_t i = 0; i < std::min(answer.readings.size(), asked.size()); ++i) {
    if (asked[i]) return &answer.readings[i];
  }
  return nullptr;
}

std::optional<std::uint64_t> value_of(const DeviceAnswer& answer, const Sensor& sensor,
                                      GpuQuestion question) {
  const Reading* const reading = reading_of(answer, sensor, question);
  if (reading == nullptr || fault_of(reading->status, sensor)) return std::nullopt;
  const Channel& channel =
      sensor.channels()[static_cast<std::size_t>(reading - answer.readings.data())];
  return static_cast<std::uint64_t>(
      std::llround(channel.scale() * static_cast<double>(reading->raw) * kMilli));
}

Gpus::Gpus(std::vector<Gpu> gpus, Loop& loop) : loop_(loop) {
  for (Gpu& gpu : gpus) add(std::move(gpu));
}

void Gpus::add(Gpu gpu) {
  const wire::DeviceId id = gpu.entry.id;
  if (!gpu.readings) gpu.readings = sleeping_readings(gpu.sensor);
  auto health = std::make_shared<Health>(Health{.name = name_of(gpu)});
  gpus_.emplace(id, OwnedGpu{.gpu = std::move(gpu), .health = std::move(health)});
  ids_.insert(std::ranges::upper_bound(ids_, id), id);
}

std::vector<wire::GpuEntry> Gpus::entries() const {
  std::vector<wire::GpuEntry> entries;
  entries.reserve(gpus_.size());
  for (const auto& [id, served] : gpus_) entries.push_back(served.gpu.entry);
  return entries;
}

GpuHandle Gpus::handle(wire::DeviceId id) const {
  const Gpu& gpu = gpus_.at(id).gpu;
  const std::shared_ptr<Worker> thread = gpu.readings->worker(kDevice);
  return {id, thread ? thread : std::make_shared<Worker>(), gpu.sensor};
}

void Gpus::note(Health& health, const DeviceAnswer& answer, const Sensor& sensor,
                GpuQuestion question) {
  const GpuQuestion asked = question == GpuQuestion::streamed_power ? GpuQuestion::power : question;
  const auto fault = fault_of(answer, sensor, question);
  // A request that the driver does not offer (400) is no failure.
  if (fault && fault->status >= 500) {
    // A GPU that is gone is back with its first answer, whatever was asked.
    const Reading* const reading = reading_of(answer, sensor, question);
    const bool is_gone = reading != nullptr && reading->status == ReadStatus::gone;
    health.failed.insert(is_gone ? GpuQuestion::all : asked);
    return;
  }
  // Power and energy are lost until they are read again. All else is over when the driver answers.
  std::erase_if(health.failed, [&](GpuQuestion failed) {
    return failed == asked || (failed != GpuQuestion::power && failed != GpuQuestion::energy);
  });
  if (asked != GpuQuestion::all) return;
  const ChannelSet channels = channels_asked(sensor, GpuQuestion::all);
  for (const GpuQuestion part : {GpuQuestion::power, GpuQuestion::energy}) {
    const Reading* const reading = reading_of(answer, sensor, part);
    if (reading == nullptr) continue;
    if (!channels[static_cast<std::size_t>(reading - answer.readings.data())]) continue;
    if (!fault_of(reading->status, sensor)) {
      health.shown.insert(part);
      health.failed.erase(part);
    } else if (health.shown.contains(part)) {
      health.failed.insert(part);
    }
  }
}

void Gpus::ask_one(wire::DeviceId id, GpuQuestion question, WaitingQuestions::Then then) {
  const OwnedGpu& served = gpus_.at(id);
  const Gpu& gpu = served.gpu;
  auto take = [question, sensor = gpu.sensor, health = served.health,
               then = std::move(then)](const DeviceAnswer& answer) {
    if (answer.end == QuestionEnd::answered) {
      note(*health, answer, *sensor, question);
      if (std::exchange(health->is_silent, false)) log_info(health->name + " answers again");
    }
    then(answer);
  };
  gpu.readings->ask(kDevice, asked_of(*gpu.sensor, question, gpu.streamed_age), loop_.now(),
                    std::move(take), loop_.poster());
}

bool Gpus::fail() const {
  const TimePoint overdue = loop_.now() - kPatience;
  return std::ranges::any_of(gpus_, [&](const auto& entry) {
    const OwnedGpu& served = entry.second;
    return !served.health->failed.empty() || served.gpu.readings->has_waited(kDevice, overdue);
  });
}

void Gpus::report_silent(wire::DeviceId id) {
  constexpr std::chrono::minutes kBetweenReports{10};
  Health& health = *gpus_.at(id).health;
  const TimePoint now = loop_.now();
  const bool is_early = health.reported_at && now - *health.reported_at < kBetweenReports;
  if (health.is_silent || is_early) return;
  health.is_silent = true;
  health.reported_at = now;
  log_warning(health.name + ": its driver does not answer; its values are unknown until it does");
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
  round->missing = ids.size();
  round->then = std::move(then);
  round->deadline = loop_.make_timer();
  if (ids.empty()) return round->finish();
  round->deadline->start(loop_.now() + kPatience, [this, round] {
    for (const auto& [id, answer] : round->answers) {
      if (answer.end == QuestionEnd::late) report_silent(id);
    }
    round->finish();
  });
  for (const wire::DeviceId id : ids) round->answers[id].end = QuestionEnd::late;
  for (const wire::DeviceId id : ids) {
    ask_one(id, question, [round, id](const DeviceAnswer& answer) {
      if (!round->then) return;
      round->answers[id] = answer;
      if (--round->missing == 0) round->finish();
    });
  }
}

}  // namespace wattle::daemon
