#include "sensors/nvml/diagnosis.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text/text.hpp"
#include "sensors/refusals.hpp"

namespace wattle::nvml {
namespace {

constexpr std::string_view kNameAnother = "name another with --nvml-library or WATTLE_NVML_LIBRARY";

}  // namespace

ReadStatus status_of(Return code) noexcept {
  switch (code) {
    case Return::success:
      return ReadStatus::ok;
    case Return::uninitialized:
    case Return::invalid_argument:  // the handle is one of before a reset
    case Return::not_found:
    case Return::driver_not_loaded:
    case Return::gpu_is_lost:
    case Return::reset_required:
    case Return::operating_system:
    case Return::lib_rm_version_mismatch:
    case Return::gpu_not_found:
      return ReadStatus::gone;
    default:
      return ReadStatus::retry;
  }
}

std::string describe(const Api& api, Return code) {
  const char* const text = api.error_string != nullptr ? api.error_string(code) : nullptr;
  return fmt::format("{} ({})", text != nullptr ? printable(text) : "NVML error",
                     static_cast<int>(code));
}

Explanation cause_of(const Api& api, Return code) {
  switch (code) {
    case Return::not_supported:
      return {"this GPU, or its driver, does not offer it", ""};
    case Return::function_not_found:
      return {"the NVIDIA driver is too old to offer it", "update the driver"};
    case Return::no_permission:
      return {"this user may not ask for it",
              "see the rights of /dev/nvidiactl and /dev/nvidia0 ..., and whether this container "
              "was given them"};
    case Return::operating_system:
      return {"the system keeps this process from the GPU (a control group)",
              "let the job or container have the GPU"};
    case Return::driver_not_loaded:
      return {"the NVIDIA kernel driver is not loaded",
              "sudo modprobe nvidia; if that fails, dmesg | grep -i nvrm says why"};
    case Return::lib_rm_version_mismatch:
      return {"the NVIDIA library and the kernel driver are of different versions",
              "restart the machine, as after each update of the driver; in a container, use the "
              "host's library"};
    case Return::gpu_is_lost:
      return {"the GPU has fallen off the bus",
              "dmesg | grep -i xid says more; as a rule only a restart of the machine helps"};
    case Return::reset_required:
      return {"the GPU needs a reset",
              "with nothing using it: sudo nvidia-smi --gpu-reset -i NUMBER"};
    case Return::insufficient_power:
      return {"the GPU's external power is not connected as it must be", "check its cables"};
    case Return::irq_issue:
      return {"the kernel has trouble with the GPU's interrupts", "dmesg | grep -i nvrm says more"};
    default:
      return {fmt::format("the driver answers {}", describe(api, code)), ""};
  }
}

SensorRefusal all_refused(std::string reason, std::string proof, std::string remedy) {
  return {.subject = "NVIDIA GPUs",
          .reason = std::move(reason),
          .proof = std::move(proof),
          .remedy = std::move(remedy),
          .scope = RefusalScope::interface};
}

SensorRefusal no_gpu(std::string proof) {
  SensorRefusal refused = all_refused("no NVIDIA GPU was found", std::move(proof), {});
  refused.absent = true;
  return refused;
}

SensorRefusal no_library(const System& system, const std::string& error) {
  const std::string proof = printable(error);
  if (system.nvml_library != System{}.nvml_library) {
    return all_refused(fmt::format("the NVIDIA driver library {} cannot be loaded",
                                   printable(system.nvml_library)),
                       proof, std::string(kNameAnother));
  }
  const std::string kernel_driver = (system.procfs / "driver/nvidia/version").string();
  std::error_code ignored;
  if (std::filesystem::exists(kernel_driver, ignored)) {
    return all_refused(
        "no NVIDIA driver library, though the kernel driver is loaded",
        fmt::format("{}; {} exists", proof, kernel_driver),
        fmt::format("install the driver's NVML library (Debian: libnvidia-ml1), give it to this "
                    "container (docker run --gpus all), or {}",
                    kNameAnother));
  }
  // The driver that Linux brings along; it reports no energy.
  const std::string other_driver = (system.sysfs / "module/nouveau").string();
  if (std::filesystem::exists(other_driver, ignored)) {
    return all_refused("no NVIDIA driver library: the GPU runs with nouveau",
                       fmt::format("{}; {} exists", proof, other_driver),
                       "install NVIDIA's own driver");
  }
  SensorRefusal refused =
      all_refused("no NVIDIA driver library",
                  fmt::format("{}; no {}, no {}", proof, kernel_driver, other_driver),
                  "if there is an NVIDIA GPU: install NVIDIA's driver");
  // It is not there only if that is the loader's reason, and not an I/O error.
  refused.absent = error.find(std::generic_category().message(ENOENT)) != std::string::npos;
  if (!refused.absent) refused.reason = "the NVIDIA driver library cannot be loaded";
  return refused;
}

SensorRefusal not_nvml(const std::string& path) {
  return all_refused(fmt::format("{} is no NVIDIA management library", printable(path)),
                     "it lacks nvmlInit_v2, nvmlDeviceGetCount_v2 or nvmlDeviceGetHandleByIndex_v2",
                     std::string(kNameAnother));
}

SensorRefusal driver_refused(const Api& api, Return code, std::string_view function) {
  Explanation cause = cause_of(api, code);
  return all_refused(std::move(cause.reason), fmt::format("{}: {}", function, describe(api, code)),
                     std::move(cause.remedy));
}

SensorRefusal gpu_refused(const Api& api, const Domain& gpu, std::string_view what, Return code,
                          std::string_view function) {
  Explanation cause = cause_of(api, code);
  return refusal_of(gpu, what, std::move(cause.reason),
                    fmt::format("{}: {}", function, describe(api, code)), std::move(cause.remedy));
}

SensorRefusal no_answer(std::optional<Domain> gpu, std::chrono::nanoseconds deadline) {
  SensorRefusal refused = all_refused(
      fmt::format("{} did not answer within {:g} s", gpu ? "the GPU" : "the driver",
                  Seconds(deadline).count()),
      "the call is still out", "dmesg | grep -i nvrm may say why; a restart of the machine helps");
  if (gpu) {
    refused.subject = gpu->name();
    refused.scope = RefusalScope::part;
    refused.domain = gpu;
  }
  return refused;
}

}  // namespace wattle::nvml
