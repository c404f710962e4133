// `wattle doctor`.
#pragma once

#include <cstdint>
#include <optional>

#include "wattle/system.hpp"

namespace wattle::app {

/// The devices that `wattle doctor --fix` makes readable.
enum class FixTarget : std::uint8_t { cpu, gpu, daemon };

struct DoctorOptions {
  System system;
  bool json = false;
  std::optional<FixTarget> fix{};  ///< absent: a report of what is missing
  bool apply = false;              ///< run the commands of `fix`, as root
  bool verbose = false;            ///< proof and risk of each cause
};

int execute(const DoctorOptions& options);

/// `wattle doctor --fix`. Requires `options.fix`.
int fix(const DoctorOptions& options);

}  // namespace wattle::app
