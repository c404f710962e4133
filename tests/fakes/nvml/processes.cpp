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
