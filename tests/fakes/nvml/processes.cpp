// The functions of the fake library that show who uses a GPU.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "fakes/nvml/fake_library.hpp"

namespace fakenvml {
namespace {

Return list_processes(const char* name, void* device, unsigned int* count, void* records,
                      bool compute, unsigned int record_size) {
  return device_call(name, device, [&](Gpu& gpu, std::int64_t now) -> Return {
    const unsigned int size = record_size != 0 ? record_size : gpu.process_record;
    if (count == nullptr) return kInvalidArgument;
    unsigned int found = 0;
    auto* out = static_cast<unsigned char*>(records);
    for (const Process& process : gpu.processes) {
      if (process.compute != compute || !process.when.holds(seconds(now))) continue;
      if (++found > *count) continue;
      const unsigned long long bytes = process.memory_bytes.value_or(UINT64_MAX);
      std::array<unsigned char, 32> record{};
      std::memcpy(&record[0], &process.pid, sizeof process.pid);
      std::memcpy(&record[8], &bytes, sizeof bytes);
      std::memset(&record[16], 0xFF, 8);  // no GPU instance, no compute instance
      std::memcpy(out, record.data(), size);
      out += size;
    }
    const bool fits = found <= *count;
    *count = found;
    return fits ? kSuccess : kInsufficientSize;
  });
}

}  // namespace
}  // namespace fakenvml

using namespace fakenvml;  // NOLINT(google-build-using-namespace): the C interface below is its own

struct FakeProcessUtilization {
  unsigned int pid;
  unsigned long long timestamp_us;
  unsigned int sm_percent;
  unsigned int memory_percent;
  unsigned int encoder_percent;
  unsigned int decoder_percent;
};

FAKE_EXPORT Return nvmlDeviceGetProcessUtilization(void* device, FakeProcessUtilization* samples,
                                                   unsigned int* count,
                                                   unsigned long long last_us) {
  return device_call(
      "nvmlDeviceGetProcessUtilization", device, [&](Gpu& gpu, std::int64_t now) -> Return {
        const auto has_sm = [](const Process& process) { return process.sm_percent.has_value(); };
        if (gpu.mig || std::ranges::none_of(gpu.processes, has_sm)) return kNotSupported;
        // A sample each 0.2 s, as on an H100.
        constexpr std::int64_t kSample_us = 200'000;
        const auto newest_us =
            static_cast<unsigned long long>(now / 1000 / kSample_us * kSample_us);
        if (newest_us <= last_us) return kNotFound;
        unsigned int found = 0;
        for (const Process& process : gpu.processes) {
          if (!process.sm_percent || !process.when.holds(seconds(now))) continue;
          if (++found > *count) continue;
          samples[found - 1] = {.pid = process.pid,
                                .timestamp_us = newest_us,
                                .sm_percent = *process.sm_percent,
                                .memory_percent = 0,
                                .encoder_percent = 0,
                                .decoder_percent = 0};
        }
        const bool fits = found <= *count;
        *count = found;
        if (found == 0) return kNotFound;
        return fits ? kSuccess : kInsufficientSize;
      });
}

FAKE_EXPORT Return nvmlDeviceGetComputeRunningProcesses(void* device, unsigned int* count,
                                                        void* records) {
  return list_processes("nvmlDeviceGetComputeRunningProcesses", device, count, records, true, 16);
}

FAKE_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses(void* device, unsigned int* count,
                                                         void* records) {
  return list_processes("nvmlDeviceGetGraphicsRunningProcesses", device, count, records, false, 16);
}

#ifndef FAKE_NVML_OLD

FAKE_EXPORT Return nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned int* count,
                                                           void* records) {
  return list_processes("nvmlDeviceGetComputeRunningProcesses_v2", device, count, records, true,
                        24);
}

FAKE_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses_v2(void* device, unsigned int* count,
                                                            void* records) {
  return list_processes("nvmlDeviceGetGraphicsRunningProcesses_v2", device, count, records, false,
                        24);
}

FAKE_EXPORT Return nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count,
                                                           void* records) {
  return list_processes("nvmlDeviceGetComputeRunningProcesses_v3", device, count, records, true, 0);
}

FAKE_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses_v3(void* device, unsigned int* count,
                                                            void* records) {
  return list_processes("nvmlDeviceGetGraphicsRunningProcesses_v3", device, count, records, false,
                        0);
}

#endif  // FAKE_NVML_OLD
