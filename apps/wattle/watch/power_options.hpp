// The command lines of `wattle power` and `wattle energy`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "wattle/domain.hpp"
#include "wattle/power_monitor.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

enum class PowerShows : std::uint8_t { power, energy };
enum class PowerFormat : std::uint8_t { text, json, csv };

/// `wattle power` and `wattle energy`.
struct PowerOptions {
  System system;
  PowerShows shows = PowerShows::power;
  PowerFormat format = PowerFormat::text;
  std::chrono::nanoseconds period{0};
  std::string gpus = "all";  ///< see `parse_gpus`
  /// At most one of them: nothing else is shown then.
  std::optional<PowerDomain> gpu_domain{};
  std::optional<DomainKind> cpu_domain{};
  bool estimate = false;  ///< a range where no sensor covers the CPU
};

int execute(const PowerOptions& options);

}  // namespace wattle::app
