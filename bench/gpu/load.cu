// Keeps an NVIDIA GPU busy at known times, and prints them: `load START_NS ON_MS:OFF_MS:SECONDS...`
// works for ON_MS, pauses for OFF_MS, and so on for SECONDS, from START_NS of CLOCK_MONOTONIC on.
// Each line is the start and the end of a busy time, in ns.
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

using Nanoseconds = long long;

__device__ Nanoseconds gpu_time() {
  Nanoseconds time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void work(Nanoseconds length, float* result) {
  const Nanoseconds begin = gpu_time();
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(threadIdx.x + i);
  while (gpu_time() - begin < length) {
    for (int repeat = 0; repeat < 64; ++repeat) {
      for (float& value : values) value = fmaf(value, 0.9999F, 0.5F);
    }
  }
  float sum = 0.0F;
  for (const float value : values) sum += value;
  if (sum == 12345.678F) *result = sum;  // or the compiler leaves all of it out
}

Nanoseconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

void sleep_until(Nanoseconds at) {
  const timespec time{at / 1'000'000'000LL, at % 1'000'000'000LL};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "load: %s\n", cudaGetErrorString(result));
  std::exit(1);
}

void work_for(Nanoseconds length, float* result) {
  constexpr int kBlocks = 1056;  // 8 for each of an H100's multiprocessors
  constexpr int kThreads = 256;
  work<<<kBlocks, kThreads>>>(length, result);
  check(cudaDeviceSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
  float* result = nullptr;
  check(cudaMalloc(&result, sizeof *result));
  work_for(1000, result);
  Nanoseconds next = argc > 1 ? std::atoll(argv[1]) : now();
  sleep_until(next);
  for (int i = 2; i < argc; ++i) {
    double on_ms = 0.0;
    double off_ms = 0.0;
    double seconds = 0.0;
    if (std::sscanf(argv[i], "%lf:%lf:%lf", &on_ms, &off_ms, &seconds) != 3) return 64;
    for (const Nanoseconds end = next + static_cast<Nanoseconds>(seconds * 1e9); next < end;) {
      const Nanoseconds begin = now();
      if (on_ms > 0.0) {
        work_for(static_cast<Nanoseconds>(on_ms * 1e6), result);
        std::printf("%lld %lld\n", begin, now());
      }
      next += static_cast<Nanoseconds>((on_ms + off_ms) * 1e6);
      sleep_until(next);
    }
  }
}
