// What a driver writes where its list of processes belongs: the first byte says how many records.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "sensors/nvml/processes.hpp"

namespace {

std::vector<unsigned char> written;

wattle::nvml::Return list(wattle::nvml::Handle /*device*/, std::uint32_t* count, void* records) {
  constexpr std::size_t kLargestRecord = 32;
  if (written.empty()) return wattle::nvml::Return::not_supported;
  const std::size_t room = std::min(written.size() - 1, *count * kLargestRecord);
  std::copy_n(written.data() + 1, room, static_cast<unsigned char*>(records));
  *count = written.front();
  return wattle::nvml::Return::success;
}

}  // namespace

FUZZ_TARGET(gpu_processes)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  written.assign(data, data + size);
  nvml::Api api;
  api.compute_processes.front() = list;
  const auto processes = nvml::list_processes(api, nullptr);
  if (!processes) return 0;
  fuzz::require(processes->size() <= written.front(), "no more processes than records");
  for (const DeviceProcess& process : *processes) {
    fuzz::require(process.pid > 0, "a process has a number");
  }
  return 0;
}
