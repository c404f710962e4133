#include "sensors/nvml/nvml.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/call_with_deadline.hpp"
#include "base/dynlib.hpp"
#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "sensors/examination.hpp"
#include "sensors/nvml/diagnosis.hpp"
#include "sensors/nvml/gpu.hpp"
#include "sensors/nvml/gpu_sensor.hpp"
#include "sensors/nvml/query.hpp"

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

namespace fs = std::filesystem;

/// Lines of /proc/bus/pci/devices: bus and device, then vendor and device ("10de2330"), then more.
bool lists_nvidia(std::string_view devices) noexcept {
  while (!devices.empty()) {
    std::string_view line = take_line(devices);
    take_word(line);
    if (take_word(line).starts_with("10de")) return true;
  }
  return false;
}

/// Also true if that cannot be found out.
bool may_exist(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) || error;
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

std::string why_no_gpu(const PresencePlaces& places) {
  const fs::path driver = places.procfs / "driver/nvidia";
  if (may_exist(driver)) return {};
  // dxg is the GPU of the Windows host (WSL), nvmap that of a Tegra: neither is on the PCI bus.
  if (may_exist(places.dev / "dxg") || may_exist(places.dev / "nvmap")) return {};
  // The driver may not be loaded yet: the library loads it.
  const std::string bus = (places.procfs / "bus/pci/devices").string();
  if (const auto devices = read_file(bus)) {
    if (lists_nvidia(*devices)) return {};
    return fmt::format("no {}; no device of vendor 10de in {}", driver.string(), bus);
  }
  if (errno != ENOENT) return {};
  // No PCI bus, or a service that sees processes alone in its /proc.
  for (const fs::path& sign : {places.dev / "nvidiactl", places.sysfs / "module/nvidia",
                               places.sysfs / "module/nouveau"}) {
    if (may_exist(sign)) return {};
  }
  return fmt::format("no {}, no {}, no {}", driver.string(), bus,
                     (places.dev / "nvidiactl").string());
}

}  // namespace wattle::nvml
