// The functions of the fake library that set something. What an administrator alone may do is done
// for everybody: a script refuses it (`error nvmlDeviceSetPowerManagementLimit 4`).
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

#include "fakes/nvml/fake_library.hpp"

namespace fakenvml {
namespace {

/// Adds a line to the file of what was set.
void note(const Gpu& gpu, const std::string& what) {
  const std::scoped_lock lock(shared().mutex);
  unsigned int number = 0;
  for (const Gpu& each : shared().state->script.gpus) {
    if (&each == &gpu) break;
    ++number;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests set it before they start threads
  std::ofstream(std::string(std::getenv("WATTLE_FAKE_NVML")) + ".set", std::ios::app)
      << number << ' ' << what << std::endl;
}

#ifndef FAKE_NVML_OLD
/// Locks a clock, `first` being where its range stands.
Return lock_clocks(Gpu& gpu, const char* what, std::size_t first, unsigned int min,
                   unsigned int max) {
  if (!gpu.clock_range_mhz) return kNotSupported;
  const std::span<const std::uint32_t> range(*gpu.clock_range_mhz);
  if (min > max || min < range[first] || max > range[first + 1]) return kInvalidArgument;
  note(gpu, std::string(what) + ' ' + std::to_string(min) + ' ' + std::to_string(max));
  return kSuccess;
}

Return free_clocks(Gpu& gpu, const char* what) {
  if (!gpu.clock_range_mhz) return kNotSupported;
  note(gpu, std::string(what) + " reset");
  return kSuccess;
}
#endif

/// Both ends of a range, the higher first, as the driver has it.
Return list_clocks(std::uint32_t low, std::uint32_t high, unsigned int* count, unsigned int* mhz) {
  if (*count < 2) {
    *count = 2;
    return kInsufficientSize;
  }
  *count = 2;
  mhz[0] = high;
  mhz[1] = low;
  return kSuccess;
}

}  // namespace
}  // namespace fakenvml

using namespace fakenvml;  // NOLINT(google-build-using-namespace): the C interface below is its own

FAKE_EXPORT Return nvmlDeviceSetPowerManagementLimit(void* device, unsigned int mw) {
  return device_call("nvmlDeviceSetPowerManagementLimit", device, [&](Gpu& gpu, std::int64_t) {
    if (!gpu.limit_w) return kNotSupported;
    if (mw < gpu.least_limit_w * 1000 || mw > gpu.limit_w->second * 1000) return kInvalidArgument;
    gpu.set_limit_mw = mw;
    note(gpu, "power_limit " + std::to_string(mw));
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceSetPersistenceMode(void* device, unsigned int mode) {
  return device_call("nvmlDeviceSetPersistenceMode", device, [&](Gpu& gpu, std::int64_t) {
    if (mode > 1) return kInvalidArgument;
    gpu.persistence = mode == 1;
    note(gpu, "persistence " + std::to_string(mode));
    return kSuccess;
  });
}

#ifndef FAKE_NVML_OLD

FAKE_EXPORT Return nvmlDeviceSetGpuLockedClocks(void* device, unsigned int min, unsigned int max) {
  return device_call("nvmlDeviceSetGpuLockedClocks", device, [&](Gpu& gpu, std::int64_t) {
    return lock_clocks(gpu, "gpu_clocks", 0, min, max);
  });
}

FAKE_EXPORT Return nvmlDeviceResetGpuLockedClocks(void* device) {
  return device_call("nvmlDeviceResetGpuLockedClocks", device,
                     [&](Gpu& gpu, std::int64_t) { return free_clocks(gpu, "gpu_clocks"); });
}

FAKE_EXPORT Return nvmlDeviceSetMemoryLockedClocks(void* device, unsigned int min,
                                                   unsigned int max) {
  return device_call("nvmlDeviceSetMemoryLockedClocks", device, [&](Gpu& gpu, std::int64_t) {
    return lock_clocks(gpu, "memory_clocks", 2, min, max);
  });
}

FAKE_EXPORT Return nvmlDeviceResetMemoryLockedClocks(void* device) {
  return device_call("nvmlDeviceResetMemoryLockedClocks", device,
                     [&](Gpu& gpu, std::int64_t) { return free_clocks(gpu, "memory_clocks"); });
}

#endif  // FAKE_NVML_OLD

FAKE_EXPORT Return nvmlDeviceGetMaxClockInfo(void* device, unsigned int type, unsigned int* mhz) {
  return device_call("nvmlDeviceGetMaxClockInfo", device, [&](Gpu& gpu, std::int64_t) {
    constexpr unsigned int kMemory = 2;
    if (type > kMemory) return kInvalidArgument;
    if (!gpu.clock_range_mhz) return kNotSupported;
    *mhz = gpu.clock_range_mhz->at(type == kMemory ? 3 : 1);
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceGetSupportedMemoryClocks(void* device, unsigned int* count,
                                                      unsigned int* mhz) {
  return device_call("nvmlDeviceGetSupportedMemoryClocks", device, [&](Gpu& gpu, std::int64_t) {
    if (!gpu.clock_range_mhz) return kNotSupported;
    return list_clocks((*gpu.clock_range_mhz)[2], (*gpu.clock_range_mhz)[3], count, mhz);
  });
}

FAKE_EXPORT Return nvmlDeviceGetSupportedGraphicsClocks(void* device, unsigned int memory_mhz,
                                                        unsigned int* count, unsigned int* mhz) {
  return device_call("nvmlDeviceGetSupportedGraphicsClocks", device, [&](Gpu& gpu, std::int64_t) {
    if (!gpu.clock_range_mhz) return kNotSupported;
    const auto [low, high, memory_low, memory_high] = *gpu.clock_range_mhz;
    if (memory_mhz != memory_low && memory_mhz != memory_high) return kInvalidArgument;
    // With slow memory the GPU is slow.
    return list_clocks(low, memory_mhz == memory_high ? high : (low + high) / 2, count, mhz);
  });
}
