#include "sensors/nvml/nvml.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/call_with_deadline.hpp"
#include "base/dynlib.hpp"
#include "base/text/text.hpp"
#include "sensors/examination.hpp"
#include "sensors/nvml/diagnosis.hpp"
#include "sensors/nvml/gpu.hpp"
#include "sensors/nvml/gpu_sensor.hpp"
#include "sensors/nvml/presence.hpp"
#include "sensors/nvml/session.hpp"

namespace wattle::nvml {
namespace {

using std::chrono::nanoseconds;

/// How many GPUs there are, or why that cannot be known.
struct GpuListing {
  std::uint32_t count = 0;
  std::string driver{};
  std::optional<SensorRefusal> refused{};
};

/// Initializes NVML.
GpuListing list_gpus(Session& session) {
  const Api& api = session.api();
  if (const Return result = session.init(); result != Return::success) {
    return {.refused = driver_refused(api, result, "nvmlInit")};
  }
  std::uint32_t count = 0;
  if (const Return result = call(api.device_count, &count); result != Return::success) {
    return {.refused = driver_refused(api, result, "nvmlDeviceGetCount")};
  }
  constexpr std::uint32_t kMostGpus = 256;
  if (count == 0 || count > kMostGpus) {
    return {.refused = all_refused(count == 0 ? "the driver finds no GPU"
                                              : "the driver names an impossible number of GPUs",
                                   fmt::format("nvmlDeviceGetCount: {}", count), "")};
  }
  return {.count = count, .driver = read_text(api.driver_version)};
}

}  // namespace

Survey probe_within(const System& system, const TimeSource& clock, nanoseconds deadline) {
  const auto refused = [](SensorRefusal refusal) {
    Survey survey;
    survey.refused.push_back(std::move(refusal));
    return survey;
  };
  if (system.nvml_library == System{}.nvml_library) {
    std::string missing = why_no_gpu({.sysfs = system.sysfs, .procfs = system.procfs});
    if (!missing.empty()) return refused(no_gpu(std::move(missing)));
  }
  DynamicLibrary library = DynamicLibrary::open(system.nvml_library);
  if (!library) return refused(no_library(system, library.error()));
  auto session = std::make_shared<Session>(std::move(library));
  const Api& api = session->api();
  if (api.init == nullptr || api.device_count == nullptr || api.device_by_index == nullptr) {
    return refused(not_nvml(session->path()));
  }
  const auto until = std::chrono::steady_clock::now() + deadline;
  auto listings = call_with_deadline<GpuListing>(
      1, deadline, [session](std::size_t, const auto&) -> GpuListing {
        try {
          return list_gpus(*session);
        } catch (const std::exception& error) {
          return {.refused = all_refused("the probe failed", printable(error.what()), "")};
        }
      });
  const std::optional<GpuListing> listing = std::move(listings.front());
  if (!listing) return refused(no_answer(std::nullopt, deadline));
  if (listing->refused) return refused(*listing->refused);
  const nanoseconds left = until - std::chrono::steady_clock::now();
  auto examined = call_with_deadline<NvmlGpu>(
      listing->count, left, [session, driver = listing->driver](std::size_t i, const auto&) {
        return examine(session->api(), static_cast<std::uint32_t>(i), driver);
      });
  Survey survey;
  add_examined(
      survey, std::move(examined),
      [&](std::size_t i) {
        return no_answer(Domain::nvidia_gpu(static_cast<std::uint32_t>(i)), deadline);
      },
      [&](NvmlGpu gpu) { return std::make_unique<NvmlGpuSensor>(session, std::move(gpu), clock); });
  return survey;
}

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& /*taken*/) {
  return probe_within(system, clock, kProbeDeadline);
}

}  // namespace wattle::nvml
