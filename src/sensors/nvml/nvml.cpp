#include "sensors/nvml/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/dynlib.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "sensors/nvml/diagnosis.hpp"
#include "sensors/nvml/gpu.hpp"
#include "sensors/nvml/gpu_sensor.hpp"
#include "sensors/nvml/session.hpp"

namespace wattle::nvml {
namespace {

using std::chrono::nanoseconds;

/// A GPU that was examined, and what it must not outlive.
struct Examined {
  std::shared_ptr<Session> session;
  Gpu gpu;
};

/// What the threads of a probe have found so far. Threads: any.
class Findings {
 public:
  void refuse_all(Refusal refused) {
    const std::scoped_lock lock(mutex_);
    refused_ = std::move(refused);
    listed_ = true;
    changed_.notify_all();
  }
  /// False where nobody waits any more.
  [[nodiscard]] bool set_count(std::size_t count) {
    const std::scoped_lock lock(mutex_);
    if (abandoned_) return false;
    gpus_.resize(count);
    missing_ = count;
    listed_ = true;
    changed_.notify_all();
    return true;
  }
  void add(std::size_t index, Examined examined) {
    const std::scoped_lock lock(mutex_);
    if (abandoned_) return;
    gpus_[index] = std::move(examined);
    --missing_;
    changed_.notify_all();
  }

  /// Waits until everybody has answered or the deadline has passed; later answers are dropped.
  Survey wait(const Clock& clock, nanoseconds deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, deadline, [&] { return listed_ && missing_ == 0; });
    abandoned_ = true;
    Survey survey;
    if (!listed_) survey.refused.push_back(no_answer(std::nullopt, deadline));
    if (refused_) survey.refused.push_back(std::move(*refused_));
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (std::optional<Examined>& gpu = gpus_[i]) {
        take(std::move(*gpu), clock, survey);
      } else {
        const auto domain = Domain::nvidia_gpu(static_cast<std::uint32_t>(i));
        survey.refused.push_back(no_answer(domain, deadline));
      }
    }
    gpus_.clear();
    return survey;
  }

 private:
  static void take(Examined examined, const Clock& clock, Survey& survey) {
    std::ranges::move(examined.gpu.refused, std::back_inserter(survey.refused));
    if (examined.gpu.channels.empty()) return;
    survey.sensors.push_back(
        std::make_unique<GpuSensor>(std::move(examined.session), std::move(examined.gpu), clock));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool listed_ = false;  ///< it is known which GPUs there are, or why that cannot be known
  bool abandoned_ = false;
  std::optional<Refusal> refused_;
  std::vector<std::optional<Examined>> gpus_;
  std::size_t missing_ = 0;  ///< GPUs that have not answered yet
};

std::string driver_version(const Api& api) {
  std::array<char, 128> text{};  // NVML documents 80
  const auto result = call(api.driver_version, text.data(), std::uint32_t{text.size() - 1});
  return result == Return::success ? printable(text.data()) : "";
}

void examine_into(const std::shared_ptr<Findings>& findings, std::shared_ptr<Session> session,
                  std::uint32_t index, const std::string& driver) noexcept {
  try {
    Gpu gpu = examine(session->api(), index, driver);
    findings->add(index, {.session = std::move(session), .gpu = std::move(gpu)});
  } catch (const std::exception&) {
    // Out of memory: nothing is left to tell it with, and the deadline will.
  }
}

/// Initializes NVML and starts a thread for each GPU.
void list_gpus(const std::shared_ptr<Findings>& findings, std::shared_ptr<Session> session) {
  const Api& api = session->api();
  if (const Return result = session->init(); result != Return::success) {
    findings->refuse_all(driver_refused(api, result, "nvmlInit"));
    return;
  }
  std::uint32_t count = 0;
  if (const Return result = call(api.device_count, &count); result != Return::success) {
    findings->refuse_all(driver_refused(api, result, "nvmlDeviceGetCount"));
    return;
  }
  constexpr std::uint32_t kMostGpus = 256;
  if (count == 0 || count > kMostGpus) {
    findings->refuse_all(all_refused(
        count == 0 ? "the driver finds no GPU" : "the driver names an impossible number of GPUs",
        fmt::format("nvmlDeviceGetCount: {}", count), ""));
    return;
  }
  if (!findings->set_count(count)) return;
  const std::string driver = driver_version(api);
  for (std::uint32_t index = 0; index < count; ++index) {
    const auto work = [findings, session, index, driver]() mutable {
      examine_into(findings, std::move(session), index, driver);
    };
    try {
      start_detached(work);
    } catch (const std::system_error&) {
      examine_into(findings, session, index, driver);  // no thread to be had: then one by one
    }
  }
}

}  // namespace

Survey probe_within(const System& system, const Clock& clock, nanoseconds deadline) {
  const auto refused = [](Refusal refusal) {
    Survey survey;
    survey.refused.push_back(std::move(refusal));
    return survey;
  };
  DynamicLibrary library = DynamicLibrary::open(system.nvml_library);
  if (!library) return refused(no_library(system, library.error()));
  auto session = std::make_shared<Session>(std::move(library));
  const Api& api = session->api();
  if (api.init == nullptr || api.device_count == nullptr || api.device_by_index == nullptr) {
    return refused(not_nvml(session->path()));
  }
  const auto findings = std::make_shared<Findings>();
  try {
    start_detached([findings, session = std::move(session)]() mutable {
      try {
        list_gpus(findings, std::move(session));
      } catch (const std::exception& error) {
        findings->refuse_all(all_refused("the probe failed", printable(error.what()), ""));
      }
    });
  } catch (const std::system_error& error) {
    return refused(all_refused("no thread can be started", printable(error.what()), ""));
  }
  return findings->wait(clock, deadline);
}

Survey probe(const System& system, const Clock& clock, const std::set<Domain>& /*taken*/) {
  return probe_within(system, clock, kProbeDeadline);
}

}  // namespace wattle::nvml
