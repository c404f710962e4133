// A stand-in for NVIDIA's libnvidia-ml.so.1, with its own symbols, that plays a script: the file
// named by WATTLE_FAKE_NVML, in the format of script.hpp. It is read at the first nvmlInit_v2.
//
// It shares no line with Wattle: its declarations are a second reading of NVML's interface, so
// that a slip in one of them shows. Built twice; the old one (FAKE_NVML_OLD) lacks what newer
// drivers added, which a script cannot do: the dynamic linker resolves symbols.
//
// Functions of its own, for tests in the same process, are at the end.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "fakes/nvml/fake_library.hpp"

namespace fakenvml {
namespace {

#ifndef FAKE_NVML_OLD
union Value {
  double d;
  unsigned int ui;
  unsigned long ul;
  unsigned long long ull;
  long long sll;
  int si;
  unsigned short us;
};

struct FieldValue {
  unsigned int field_id;
  unsigned int scope_id;
  long long timestamp;
  long long latency_us;
  unsigned int value_type;
  Return result;
  Value value;
};
static_assert(sizeof(FieldValue) == 40);

void store(std::uint64_t mw, unsigned int type, FieldValue& field) {
  field.value_type = type;
  std::memset(&field.value, 0xEE, sizeof field.value);  // what stands beside the number is garbage
  const auto number = static_cast<long long>(mw);
  switch (type) {
    case 0:
      field.value.d = static_cast<double>(mw);
      break;
    case 1:
      field.value.ui = static_cast<unsigned int>(mw);
      break;
    case 2:
      field.value.ul = mw;
      break;
    case 3:
      field.value.ull = mw;
      break;
    case 4:
      field.value.sll = number;
      break;
    case 5:
      field.value.si = static_cast<int>(number);
      break;
    case 6:
      field.value.us = static_cast<unsigned short>(mw);
      break;
    default:
      break;
  }
}

Return fill_field(Gpu& gpu, std::int64_t now, FieldValue& field) {
  constexpr unsigned int kAverage = 185;
  constexpr unsigned int kInstant = 186;
  if (field.field_id != kAverage && field.field_id != kInstant) return kInvalidArgument;
  const std::string name =
      "field:" + std::to_string(field.field_id) + ":" + std::to_string(field.scope_id);
  const Return ruled = apply(gpu.rules, name, seconds(now));
  if (ruled != kSuccess) return ruled;
  const auto& view = field.field_id == kInstant ? gpu.instant : gpu.average;
  const unsigned int scope = gpu.ignores_scope ? 0 : field.scope_id;
  const PowerCurve* power = nullptr;
  if (scope == 0) power = &gpu.power;
  if (scope == 1 && gpu.module_power) power = &*gpu.module_power;
  if (scope == 2 && gpu.memory_power && field.field_id == kAverage) power = &*gpu.memory_power;
  if (!view || power == nullptr) return kNotSupported;
  store(shown_mw(*power, *view, now), gpu.field_type, field);
  return kSuccess;
}
#endif

}  // namespace
}  // namespace fakenvml

using namespace fakenvml;  // NOLINT(google-build-using-namespace): the C interface below is its own

FAKE_EXPORT Return nvmlInit_v2() {
  Shared& all = shared();
  std::shared_ptr<State> state;
  {
    const std::scoped_lock lock(all.mutex);
    all.calls.add("nvmlInit_v2");
    ++all.calls_under_way;
    if (!all.state) all.state = load();
    state = all.state;
  }
  const Return ruled =
      state ? apply(state->script.rules, "nvmlInit_v2", seconds(now_ns(*state))) : kUnknown;
  const std::scoped_lock lock(all.mutex);
  --all.calls_under_way;
  if (ruled == kSuccess) {
    all.state = state;
    ++all.initialized;
  } else if (all.initialized == 0) {
    all.state.reset();
  }
  return ruled;
}

FAKE_EXPORT Return nvmlShutdown() {
  Shared& all = shared();
  const std::scoped_lock lock(all.mutex);
  all.calls.add("nvmlShutdown");
  if (all.initialized == 0) return kUninitialized;
  if (--all.initialized == 0) {
    if (all.calls_under_way > 0) all.shut_down_during_call = true;
    all.state.reset();
  }
  return kSuccess;
}

FAKE_EXPORT const char* nvmlErrorString(Return code) {
  return code == kNotSupported ? "Not Supported" : code == kLost ? "GPU is lost" : "Fake Error";
}

FAKE_EXPORT Return nvmlSystemGetDriverVersion(char* buffer, unsigned int size) {
  return system_call("nvmlSystemGetDriverVersion",
                     [&](State& state) { return copy_text(state.script.driver, buffer, size); });
}

FAKE_EXPORT Return nvmlDeviceGetCount_v2(unsigned int* count) {
  return system_call("nvmlDeviceGetCount_v2", [&](State& state) {
    *count = static_cast<unsigned int>(state.script.gpus.size());
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  return open_gpu("nvmlDeviceGetHandleByIndex_v2", device, kInvalidArgument,
                  [&](const Gpu&, unsigned int number) { return number == index; });
}

FAKE_EXPORT Return nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return open_gpu("nvmlDeviceGetHandleByUUID", device, kNotFound,
                  [&](const Gpu& gpu, unsigned int) { return gpu.uuid == uuid; });
}

FAKE_EXPORT Return nvmlDeviceGetName(void* device, char* buffer, unsigned int size) {
  return device_call("nvmlDeviceGetName", device,
                     [&](Gpu& gpu, std::int64_t) { return copy_text(gpu.name, buffer, size); });
}

FAKE_EXPORT Return nvmlDeviceGetUUID(void* device, char* buffer, unsigned int size) {
  return device_call("nvmlDeviceGetUUID", device,
                     [&](Gpu& gpu, std::int64_t) { return copy_text(gpu.uuid, buffer, size); });
}

FAKE_EXPORT Return nvmlDeviceGetPowerUsage(void* device, unsigned int* mw) {
  return device_call("nvmlDeviceGetPowerUsage", device, [&](Gpu& gpu, std::int64_t now) {
    if (!gpu.usage) return kNotSupported;
    *mw = static_cast<unsigned int>(shown_mw(gpu.power, *gpu.usage, now));
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceGetPowerManagementLimit(void* device, unsigned int* mw) {
  return device_call("nvmlDeviceGetPowerManagementLimit", device, [&](Gpu& gpu, std::int64_t) {
    const Return given = give(gpu.limit_w, false, mw, 1000);
    if (gpu.set_limit_mw) *mw = static_cast<unsigned int>(*gpu.set_limit_mw);
    return given;
  });
}

FAKE_EXPORT Return nvmlDeviceGetPowerManagementLimitConstraints(void* device, unsigned int* low,
                                                                unsigned int* high) {
  return device_call("nvmlDeviceGetPowerManagementLimitConstraints", device,
                     [&](Gpu& gpu, std::int64_t) {
                       *low = static_cast<unsigned int>(gpu.least_limit_w * 1000);
                       return give(gpu.limit_w, true, high, 1000);
                     });
}

FAKE_EXPORT Return nvmlDeviceGetPersistenceMode(void* device, unsigned int* enabled) {
  return device_call("nvmlDeviceGetPersistenceMode", device, [&](Gpu& gpu, std::int64_t) {
    *enabled = gpu.persistence ? 1 : 0;
    return kSuccess;
  });
}

struct FakeMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

FAKE_EXPORT Return nvmlDeviceGetMemoryInfo(void* device, FakeMemory* memory) {
  return device_call("nvmlDeviceGetMemoryInfo", device, [&](Gpu& gpu, std::int64_t) {
    if (!gpu.memory) return kNotSupported;
    // The old call counts what the driver reserves as used.
    constexpr unsigned long long kReserved = 500'000'000;
    const auto [total, used] = *gpu.memory;
    *memory = {.total = total, .free = total - used - kReserved, .used = used + kReserved};
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceGetTemperature(void* device, unsigned int sensor,
                                            unsigned int* celsius) {
  return device_call("nvmlDeviceGetTemperature", device, [&](Gpu& gpu, std::int64_t) {
    if (sensor != 0) return kInvalidArgument;
    if (!gpu.temperature) return kNotSupported;
    *celsius = static_cast<unsigned int>(*gpu.temperature);
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceGetClockInfo(void* device, unsigned int type, unsigned int* mhz) {
  constexpr unsigned int kSm = 1;
  constexpr unsigned int kMemory = 2;
  return device_call("nvmlDeviceGetClockInfo", device, [&](Gpu& gpu, std::int64_t) {
    if (type != kSm && type != kMemory) return kInvalidArgument;
    return give(gpu.clocks_mhz, type == kMemory, mhz);
  });
}

#ifndef FAKE_NVML_OLD

FAKE_EXPORT Return nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* mj) {
  return device_call(
      "nvmlDeviceGetTotalEnergyConsumption", device, [&](Gpu& gpu, std::int64_t now) {
        if (!gpu.counter) return kNotSupported;
        const double updated_s = seconds(now - now % (gpu.counter->step_ms * 1'000'000));
        double energy_j = gpu.power.energy_j(updated_s);
        std::uint64_t start_mj = gpu.counter->start_mj;
        if (gpu.counter_restart_s && updated_s >= *gpu.counter_restart_s) {
          energy_j -= gpu.power.energy_j(*gpu.counter_restart_s);
          start_mj = 0;
        }
        *mj = start_mj + static_cast<std::uint64_t>(std::floor(energy_j * 1e3 + 1e-6));
        return kSuccess;
      });
}

FAKE_EXPORT Return nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  return device_call("nvmlDeviceGetFieldValues", device, [&](Gpu& gpu, std::int64_t now) {
    for (int i = 0; i < count; ++i) values[i].result = fill_field(gpu, now, values[i]);
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned int* mw) {
  return device_call("nvmlDeviceGetEnforcedPowerLimit", device, [&](Gpu& gpu, std::int64_t) {
    const Return given = give(gpu.limit_w, false, mw, 1000);
    if (gpu.set_limit_mw) *mw = static_cast<unsigned int>(*gpu.set_limit_mw);
    return given;
  });
}

struct FakeMemoryV2 {
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};

FAKE_EXPORT Return nvmlDeviceGetMemoryInfo_v2(void* device, FakeMemoryV2* memory) {
  constexpr unsigned int kVersion = sizeof(FakeMemoryV2) | (2U << 24U);
  return device_call("nvmlDeviceGetMemoryInfo_v2", device, [&](Gpu& gpu, std::int64_t) {
    if (memory->version != kVersion) return kVersionMismatch;
    if (!gpu.memory) return kNotSupported;
    const auto [total, used] = *gpu.memory;
    constexpr unsigned long long kReserved = 500'000'000;
    *memory = {.version = kVersion,
               .total = total,
               .reserved = kReserved,
               .free = total - used - kReserved,
               .used = used};
    return kSuccess;
  });
}

struct FakePciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(FakePciInfo) == 68);

FAKE_EXPORT Return nvmlDeviceGetPciInfo_v3(void* device, FakePciInfo* pci) {
  return device_call("nvmlDeviceGetPciInfo_v3", device, [&](Gpu& gpu, std::int64_t) {
    *pci = {};
    pci->domain = gpu.pci_domain;
    pci->bus = gpu.pci_bus;
    pci->device = gpu.pci_device;
    return kSuccess;
  });
}

FAKE_EXPORT Return nvmlDeviceGetMigMode(void* device, unsigned int* current,
                                        unsigned int* pending) {
  return device_call("nvmlDeviceGetMigMode", device, [&](Gpu& gpu, std::int64_t) {
    if (!gpu.mig) return kNotSupported;
    *current = *pending = 1;
    return kSuccess;
  });
}

#endif  // FAKE_NVML_OLD

// For tests.

/// From now on it is this time.
FAKE_EXPORT void fakenvml_set_time_ns(std::int64_t ns) { shared().virtual_ns = ns; }

/// From now on time passes by itself, from where it stands.
FAKE_EXPORT void fakenvml_let_time_pass() {
  shared().real_zero_ns = steady_ns() - shared().virtual_ns;
  shared().virtual_ns = -1;
}

/// Lets every call that hangs now go on.
FAKE_EXPORT void fakenvml_release_hung() {
  const std::scoped_lock lock(shared().mutex);
  ++shared().releases;
  shared().released.notify_all();
}

/// How often a function was called since `fakenvml_forget_calls`.
FAKE_EXPORT std::uint64_t fakenvml_calls(const char* function) {
  const std::scoped_lock lock(shared().mutex);
  return shared().calls.of(function);
}

FAKE_EXPORT void fakenvml_forget_calls() {
  const std::scoped_lock lock(shared().mutex);
  shared().calls = {};
  shared().shut_down_during_call = false;
}

/// True if NVML is shut down and no call is out.
FAKE_EXPORT bool fakenvml_is_idle() {
  const std::scoped_lock lock(shared().mutex);
  return shared().initialized == 0 && shared().calls_under_way == 0;
}

/// True if nvmlShutdown was called while another call was out.
FAKE_EXPORT bool fakenvml_shut_down_during_call() {
  const std::scoped_lock lock(shared().mutex);
  return shared().shut_down_during_call;
}
