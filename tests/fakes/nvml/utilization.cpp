// The functions of the fake library that show how busy a GPU is, and for whom.
#include <algorithm>
#include <cstdint>

#include "fakes/nvml/fake_library.hpp"

using namespace fakenvml;  // NOLINT(google-build-using-namespace): the C interface below is its own

namespace {

/// The driver has a sample for each 0.2 s, as on an H100.
constexpr std::int64_t kSampleUs = 200'000;

}  // namespace

struct FakeUtilization {
  unsigned int gpu;
  unsigned int memory;
};

FAKE_EXPORT Return nvmlDeviceGetUtilizationRates(void* device, FakeUtilization* rates) {
  return device_call("nvmlDeviceGetUtilizationRates", device, [&](Gpu& gpu, std::int64_t now) {
    if (gpu.mig) return kNotSupported;
    const Gpu::Pair& shown = gpu.utilization_at(seconds(now));
    const Return first = give(shown, false, &rates->gpu);
    return first != kSuccess ? first : give(shown, true, &rates->memory);
  });
}

struct FakeSample {
  unsigned long long timestamp_us;
  unsigned long long value;
};

/// Utilization alone: one sample for each 0.2 s of the last 14 s, as on an H100.
FAKE_EXPORT Return nvmlDeviceGetSamples(void* device, unsigned int kind, unsigned long long last_us,
                                        unsigned int* type, unsigned int* count,
                                        FakeSample* samples) {
  return device_call("nvmlDeviceGetSamples", device, [&](Gpu& gpu, std::int64_t now) {
    constexpr unsigned int kUtilization = 1;
    if (gpu.mig || kind != kUtilization) return kNotSupported;
    constexpr std::int64_t kMost = 71;
    const std::int64_t newest = now / 1000 / kSampleUs;
    unsigned int found = 0;
    for (std::int64_t sample = std::max<std::int64_t>(newest - kMost + 1, 1); sample <= newest;
         ++sample) {
      const std::int64_t at_us = sample * kSampleUs;
      unsigned int percent = 0;
      const Return result =
          give(gpu.utilization_at(seconds((at_us - kSampleUs) * 1000)), false, &percent);
      if (result != kSuccess) return result;
      if (at_us <= static_cast<std::int64_t>(last_us) || found == *count) continue;
      samples[found++] = {static_cast<unsigned long long>(at_us), percent};
    }
    *type = 1;  // unsigned int
    *count = found;
    return found != 0 ? kSuccess : kNotFound;
  });
}

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
        const auto newest_us = static_cast<unsigned long long>(now / 1000 / kSampleUs * kSampleUs);
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
