// The loaded library with NVML initialized in it, shared by everyone who may be inside a call, and
// the calls that read a GPU's state, each with the values it returns.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/dynlib.hpp"
#include "sensors/nvml/api.hpp"

namespace wattle::nvml {

/// Held by `shared_ptr` by every sensor and every thread that calls NVML: the last one to let go
/// shuts NVML down and unloads it, so that never happens while a call is out, however long that
/// hangs. Threads: any.
class Session {
 public:
  explicit Session(DynamicLibrary library) noexcept : api_{.library = std::move(library)} {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (initialized_) (void)call(api_.shutdown);
  }

  /// Initializes NVML, or does so again where somebody else in this process has shut it down.
  [[nodiscard]] Return init() noexcept {
    const Return result = call(api_.init);
    if (result == Return::success) initialized_ = true;
    return result;
  }

  [[nodiscard]] const Api& api() const noexcept { return api_; }
  /// The file that was loaded.
  [[nodiscard]] std::string path() const { return api_.library.path(); }

 private:
  Api api_;
  std::atomic<bool> initialized_ = false;
};

/// One call of NVML, or one after the other where an older function replaces a newer.
enum class Query : std::uint8_t {
  energy,       ///< nvmlDeviceGetTotalEnergyConsumption: mJ
  fields,       ///< nvmlDeviceGetFieldValues: mW, one item for each of `kPowerFields`
  usage,        ///< nvmlDeviceGetPowerUsage: mW
  limit,        ///< nvmlDeviceGetEnforcedPowerLimit, or ...PowerManagementLimit: mW
  utilization,  ///< nvmlDeviceGetUtilizationRates: percent, of the GPU and of its memory
  memory,       ///< nvmlDeviceGetMemoryInfo_v2, or without: bytes, used and in all
  temperature,  ///< nvmlDeviceGetTemperature: degrees Celsius
  sm_clock,     ///< nvmlDeviceGetClockInfo: MHz
  memory_clock,
};
inline constexpr std::array kQueries = {
    Query::energy, Query::fields,      Query::usage,    Query::limit,       Query::utilization,
    Query::memory, Query::temperature, Query::sm_clock, Query::memory_clock};

struct PowerField {
  std::uint32_t id;
  std::uint32_t scope;
};
inline constexpr std::array kPowerFields = {
    PowerField{kFieldPowerInstant, kScopeGpu}, PowerField{kFieldPowerAverage, kScopeGpu},
    PowerField{kFieldPowerInstant, kScopeModule}, PowerField{kFieldPowerAverage, kScopeModule},
    PowerField{kFieldPowerAverage, kScopeMemory}};

inline constexpr std::size_t kMostItems = kPowerFields.size();
/// A choice among the items of one query.
using Items = std::bitset<kMostItems>;

/// The result of one item. `raw` means something only with `success`.
struct QueryAnswer {
  Return result = Return::unknown;
  std::uint64_t raw = 0;
};
using Answers = std::array<QueryAnswer, kMostItems>;

/// Asks for the chosen items of one query; the other answers stay as they are. Allocates nothing.
void ask(const Api& api, Handle handle, Query query, Items wanted, Answers& answers) noexcept;

/// The power in mW that a field's answer holds, whatever its type; absent where that is no power:
/// negative, not a number, or of a type that NVML does not document.
[[nodiscard]] std::optional<std::uint64_t> milliwatts(const FieldValue& field) noexcept;

}  // namespace wattle::nvml
