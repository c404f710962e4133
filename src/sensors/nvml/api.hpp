// The part of NVML that Wattle uses: types, codes, and a table of functions, each of which may be
// missing. Declared here from NVIDIA's published interface, so that no vendor header is needed to
// build; all of it is ABI that NVIDIA keeps across drivers ("NVML API Reference Guide").
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "base/dynlib.hpp"
#include "base/text/text.hpp"

namespace wattle::nvml {

/// A GPU as the library hands it out.
using Handle = struct OpaqueDevice*;

/// nvmlReturn_t. The library may return other numbers.
enum class Return : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timeout = 10,
  irq_issue = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  lib_rm_version_mismatch = 18,
  in_use = 19,
  gpu_not_found = 28,
  unknown = 999,
};

/// nvmlValueType_t: which member of the value holds it.
enum class ValueType : std::uint32_t {
  real = 0,
  unsigned_int = 1,
  unsigned_long = 2,
  unsigned_long_long = 3,
  signed_long_long = 4,
  signed_int = 5,
  unsigned_short = 6,
};

/// nvmlFieldValue_t: one question to nvmlDeviceGetFieldValues, and its answer.
struct FieldValue {
  std::uint32_t field_id = 0;
  std::uint32_t scope_id = 0;
  std::int64_t timestamp_us = 0;
  std::int64_t latency_us = 0;
  ValueType type = ValueType::real;
  Return result = Return::unknown;
  alignas(8) std::array<std::byte, 8> value{};
};
static_assert(sizeof(FieldValue) == 40 && std::is_trivially_copyable_v<FieldValue>);

inline constexpr std::uint32_t kFieldPowerAverage = 185;
inline constexpr std::uint32_t kFieldPowerInstant = 186;
inline constexpr std::uint32_t kScopeGpu = 0;
inline constexpr std::uint32_t kScopeModule = 1;
inline constexpr std::uint32_t kScopeMemory = 2;

/// nvmlUtilization_t, in percent.
struct Utilization {
  std::uint32_t gpu = 0;
  std::uint32_t memory = 0;
};

/// nvmlMemory_t, in bytes. What the driver reserves for itself counts as used.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};

/// nvmlMemory_v2_t, in bytes.
struct MemoryV2 {
  std::uint32_t version = sizeof(MemoryV2) | (2U << 24U);
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};
static_assert(sizeof(MemoryV2) == 40);

/// nvmlPciInfo_t as nvmlDeviceGetPciInfo_v3 fills it.
struct PciInfo {
  std::array<char, 16> bus_id_legacy{};
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t device_id = 0;
  std::uint32_t subsystem_id = 0;
  std::array<char, 32> bus_id{};
};
static_assert(sizeof(PciInfo) == 68);

/// nvmlProcessUtilizationSample_t: what a process used of the time since the sample before.
struct ProcessUtilization {
  std::uint32_t pid = 0;
  std::uint64_t timestamp_us = 0;
  std::uint32_t sm_percent = 0;
  std::uint32_t memory_percent = 0;
  std::uint32_t encoder_percent = 0;
  std::uint32_t decoder_percent = 0;
};
static_assert(sizeof(ProcessUtilization) == 32 && std::is_trivially_copyable_v<ProcessUtilization>);

/// nvmlSample_t: a value of the time since the sample before.
struct Sample {
  std::uint64_t timestamp_us = 0;
  alignas(8) std::array<std::byte, 8> value{};
};
static_assert(sizeof(Sample) == 16 && std::is_trivially_copyable_v<Sample>);

/// nvmlSamplingType_t: percent of the time in which the GPU worked.
inline constexpr std::uint32_t kUtilizationSamples = 1;

/// The longest time that a sample of utilization is of ("NVML API Reference Guide": 1/6 to 1 s).
inline constexpr std::chrono::nanoseconds kLongestSample = std::chrono::seconds(1);

/// As the driver counts time.
[[nodiscard]] constexpr std::uint64_t microseconds_in(std::chrono::nanoseconds time) noexcept {
  return static_cast<std::uint64_t>(time / std::chrono::microseconds(1));
}

inline constexpr std::uint32_t kTemperatureGpu = 0;
inline constexpr std::uint32_t kClockGraphics = 0;
inline constexpr std::uint32_t kClockSm = 1;
inline constexpr std::uint32_t kClockMemory = 2;

/// The library and its functions; null where it lacks one. Threads: a value type; NVML's functions
/// may be called from any thread.
struct Api {
  using ReadUint = Return(Handle, std::uint32_t*);
  using ReadText = Return(Handle, char*, std::uint32_t);
  using ListProcesses = Return(Handle, std::uint32_t* count, void* records);

  DynamicLibrary library;

  Return (*init)() = library.find("nvmlInit_v2");
  Return (*shutdown)() = library.find("nvmlShutdown");
  const char* (*error_string)(Return) = library.find("nvmlErrorString");
  Return (*driver_version)(char*, std::uint32_t) = library.find("nvmlSystemGetDriverVersion");
  Return (*device_count)(std::uint32_t*) = library.find("nvmlDeviceGetCount_v2");
  Return (*device_by_index)(std::uint32_t, Handle*) = library.find("nvmlDeviceGetHandleByIndex_v2");
  Return (*device_by_uuid)(const char*, Handle*) = library.find("nvmlDeviceGetHandleByUUID");

  ReadText* name = library.find("nvmlDeviceGetName");
  ReadText* uuid = library.find("nvmlDeviceGetUUID");
  Return (*pci_info)(Handle, PciInfo*) = library.find("nvmlDeviceGetPciInfo_v3");
  Return (*mig_mode)(Handle, std::uint32_t* current,
                     std::uint32_t* pending) = library.find("nvmlDeviceGetMigMode");

  Return (*total_energy)(Handle, unsigned long long* millijoules) =
      library.find("nvmlDeviceGetTotalEnergyConsumption");
  Return (*field_values)(Handle, int count, FieldValue*) = library.find("nvmlDeviceGetFieldValues");
  ReadUint* power_usage = library.find("nvmlDeviceGetPowerUsage");                   ///< mW
  ReadUint* enforced_power_limit = library.find("nvmlDeviceGetEnforcedPowerLimit");  ///< mW
  ReadUint* power_limit = library.find("nvmlDeviceGetPowerManagementLimit");         ///< mW
  Return (*power_limit_range)(Handle, std::uint32_t* low_mw, std::uint32_t* high_mw) =
      library.find("nvmlDeviceGetPowerManagementLimitConstraints");
  ReadUint* persistence_mode = library.find("nvmlDeviceGetPersistenceMode");  ///< 0: off

  Return (*utilization)(Handle, Utilization*) = library.find("nvmlDeviceGetUtilizationRates");
  Return (*memory)(Handle, Memory*) = library.find("nvmlDeviceGetMemoryInfo");
  Return (*memory_v2)(Handle, MemoryV2*) = library.find("nvmlDeviceGetMemoryInfo_v2");
  Return (*temperature)(Handle, std::uint32_t sensor,
                        std::uint32_t* celsius) = library.find("nvmlDeviceGetTemperature");
  Return (*clock)(Handle, std::uint32_t type,
                  std::uint32_t* mhz) = library.find("nvmlDeviceGetClockInfo");

  // Need the rights of an administrator.
  using WriteUint = Return(Handle, std::uint32_t);
  using WriteRange = Return(Handle, std::uint32_t min, std::uint32_t max);
  using Reset = Return(Handle);
  WriteUint* set_power_limit = library.find("nvmlDeviceSetPowerManagementLimit");  ///< mW
  WriteUint* set_persistence_mode = library.find("nvmlDeviceSetPersistenceMode");  ///< 0: off
  WriteRange* lock_gpu_clocks = library.find("nvmlDeviceSetGpuLockedClocks");      ///< MHz
  Reset* free_gpu_clocks = library.find("nvmlDeviceResetGpuLockedClocks");
  WriteRange* lock_memory_clocks = library.find("nvmlDeviceSetMemoryLockedClocks");  ///< MHz
  Reset* free_memory_clocks = library.find("nvmlDeviceResetMemoryLockedClocks");
  Return (*max_clock)(Handle, std::uint32_t type,
                      std::uint32_t* mhz) = library.find("nvmlDeviceGetMaxClockInfo");
  Return (*memory_clocks)(Handle, std::uint32_t* count,
                          std::uint32_t* mhz) = library.find("nvmlDeviceGetSupportedMemoryClocks");
  /// Those that go with a clock of the memory.
  Return (*graphics_clocks)(Handle, std::uint32_t memory_mhz, std::uint32_t* count,
                            std::uint32_t* mhz) =
      library.find("nvmlDeviceGetSupportedGraphicsClocks");

  /// The newest first. Their records differ: see processes.hpp.
  std::array<ListProcesses*, 3> compute_processes = {
      library.find("nvmlDeviceGetComputeRunningProcesses_v3"),
      library.find("nvmlDeviceGetComputeRunningProcesses_v2"),
      library.find("nvmlDeviceGetComputeRunningProcesses")};
  std::array<ListProcesses*, 3> graphics_processes = {
      library.find("nvmlDeviceGetGraphicsRunningProcesses_v3"),
      library.find("nvmlDeviceGetGraphicsRunningProcesses_v2"),
      library.find("nvmlDeviceGetGraphicsRunningProcesses")};
  /// Samples that are newer than `last_us`; `not_found` where there is none.
  Return (*process_utilization)(Handle, ProcessUtilization*, std::uint32_t* count,
                                unsigned long long last_us) =
      library.find("nvmlDeviceGetProcessUtilization");
  /// Likewise, of the GPU.
  Return (*samples)(Handle, std::uint32_t type, unsigned long long last_us, ValueType*,
                    std::uint32_t* count, Sample*) = library.find("nvmlDeviceGetSamples");
};

/// Calls a function of the table; `function_not_found` where the library lacks it.
template <class... Parameters>
[[nodiscard]] Return call(Return (*function)(Parameters...),
                          std::type_identity_t<Parameters>... arguments) noexcept {
  return function != nullptr ? function(arguments...) : Return::function_not_found;
}

/// False for what a driver shows where there is no process, or one that it may not name.
[[nodiscard]] constexpr bool is_pid(std::uint32_t number) noexcept {
  return number != 0 && std::in_range<std::int32_t>(number);
}

/// The text that a function writes into what it is given room for, safe to print; empty where it
/// fails.
template <class... Parameters, class... Arguments>
[[nodiscard]] std::string read_text(Return (*function)(Parameters...), Arguments... arguments) {
  std::array<char, 128> text{};  // the longest that NVML documents has 96
  const auto result = call(function, arguments..., text.data(), std::uint32_t{text.size() - 1});
  return result == Return::success ? printable(text.data()) : "";
}

}  // namespace wattle::nvml
