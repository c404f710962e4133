#include "sensors/nvml/processes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>

#include "base/numbers/known_sum.hpp"

namespace wattle::nvml {
namespace {

constexpr std::array<std::size_t, 3> kRecordSizes = {16, 24, 32};
constexpr std::size_t kLargestRecord = kRecordSizes.back();

using MemoryByPid = std::map<pid_t, std::optional<std::uint64_t>>;

/// All records start with the process number and, at the eighth byte, the memory it holds. Under
/// MIG a process has one record for each instance it uses.
MemoryByPid parse(std::span<const std::byte> records, std::size_t size) {
  MemoryByPid found;
  for (; records.size() >= size; records = records.subspan(size)) {
    std::uint32_t pid = 0;
    std::uint64_t bytes = 0;
    std::memcpy(&pid, records.data(), sizeof pid);
    std::memcpy(&bytes, &records[8], sizeof bytes);
    if (!is_pid(pid)) continue;
    const bool is_known = bytes != std::numeric_limits<std::uint64_t>::max();
    const auto memory = is_known ? std::optional(bytes) : std::nullopt;
    const auto [place, is_new] = found.emplace(static_cast<pid_t>(pid), memory);
    if (!is_new) place->second = known_sum(place->second, memory);
  }
  return found;
}

struct ProcessListing {
  Return result = Return::function_not_found;
  MemoryByPid processes;
};

ProcessListing list_with(Api::ListProcesses* function, Handle handle) {
  constexpr std::uint32_t kFirstGuess = 64;
  constexpr std::uint32_t kMost = 65536;
  std::vector<std::byte> buffer;
  std::uint32_t capacity = kFirstGuess;
  while (capacity <= kMost) {
    buffer.assign(capacity * kLargestRecord, kUntouched);
    std::uint32_t count = capacity;
    const Return result = call(function, handle, &count, buffer.data());
    // Processes may start between the call that counts them and the next.
    if (result == Return::insufficient_size) {
      capacity = std::max(capacity, std::min(count, kMost)) * 2;
      continue;
    }
    if (result != Return::success) return {.result = result};
    if (count == 0) return {.result = result};
    const std::size_t size = count <= capacity ? record_size(buffer, count) : 0;
    if (size == 0) return {.result = Return::unknown};
    return {.result = result, .processes = parse(std::span(buffer).first(count * size), size)};
  }
  return {.result = Return::insufficient_size};
}

/// By the newest of the functions that the library and its driver both have.
ProcessListing list_kind(std::span<Api::ListProcesses* const> functions, Handle handle) {
  ProcessListing listing;
  for (Api::ListProcesses* const function : functions) {
    listing = list_with(function, handle);
    if (listing.result != Return::function_not_found) break;
  }
  return listing;
}

}  // namespace

std::size_t record_size(std::span<const std::byte> buffer, std::size_t count) noexcept {
  std::size_t written = buffer.size();
  while (written > 0 && buffer[written - 1] == kUntouched) --written;
  for (const std::size_t size : kRecordSizes) {
    if (written <= count * size && count * size <= buffer.size()) return size;
  }
  return 0;
}

std::optional<std::vector<DeviceProcess>> list_processes(const Api& api, Handle handle) {
  ProcessListing compute = list_kind(api.compute_processes, handle);
  const ProcessListing graphics = list_kind(api.graphics_processes, handle);
  if (compute.result != Return::success && graphics.result != Return::success) return std::nullopt;

  // A process in both lists is shown with the same memory in each.
  for (const auto& [pid, memory] : graphics.processes) {
    auto& both = compute.processes[pid];
    both = std::max(both, memory);
  }
  std::vector<DeviceProcess> processes;
  for (const auto& [pid, memory] : compute.processes) {
    processes.push_back({.pid = pid, .memory_bytes = memory});
  }
  return processes;
}

}  // namespace wattle::nvml
