// Why a GPU, or a value of it, is not read: cause, proof, remedy.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "sensors/nvml/api.hpp"
#include "sensors/sensor.hpp"

namespace wattle::nvml {

/// The status of a reading after such an answer. Answers that make the handle or the driver
/// unusable are `gone`; anything else may pass.
[[nodiscard]] ReadStatus status_of(Return code) noexcept;

/// "Not Supported (3)": the library's own word for a code, safe to print.
[[nodiscard]] std::string describe(const Api& api, Return code);

/// A code in words of its consequence, and what to do. `remedy` may be empty.
struct Explanation {
  std::string reason;
  std::string remedy;
};
[[nodiscard]] Explanation cause_of(const Api& api, Return code);

/// This machine has no NVIDIA hardware; `proof` is of `why_no_gpu`.
[[nodiscard]] SensorRefusal no_gpu(std::string proof);

/// The library could not be loaded; `error` are the linker's words.
[[nodiscard]] SensorRefusal no_library(const System& system, const std::string& error);
/// There is a library, but it has not even the functions that every NVML has.
[[nodiscard]] SensorRefusal not_nvml(const std::string& path);
/// NVML as a whole refused: `function` was answered with `code`.
[[nodiscard]] SensorRefusal driver_refused(const Api& api, Return code, std::string_view function);
/// The whole of one GPU, or a value of it where `what` is not empty.
[[nodiscard]] SensorRefusal gpu_refused(const Api& api, const Domain& gpu, std::string_view what,
                                        Return code, std::string_view function);
/// A call is still out. `gpu` absent: the one that should have listed the GPUs.
[[nodiscard]] SensorRefusal no_answer(std::optional<Domain> gpu, std::chrono::nanoseconds deadline);

/// A refusal of everything that NVML could offer.
[[nodiscard]] SensorRefusal all_refused(std::string reason, std::string proof, std::string remedy);

}  // namespace wattle::nvml
