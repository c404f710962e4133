// The CPU energy that TCP clients without a token may see.
#pragma once

#include <chrono>
#include <cstdint>

#include "wire/messages.hpp"

namespace wattle::daemon {

/// Too slow and too coarse to show what other users' programs do (CVE-2020-8694).
inline constexpr std::chrono::milliseconds kPublicCpuPeriod{1000};

/// Public energies are multiples of this, in µJ: mean powers over a period are multiples of 1 W.
/// Threads: any.
[[nodiscard]] constexpr std::uint64_t public_quantum_uj(std::chrono::milliseconds period) noexcept {
  return static_cast<std::uint64_t>(period.count()) * 1000;
}

/// The limit, as /discover reports it to such a client.
[[nodiscard]] inline wire::CpuLimit public_cpu_limit(std::chrono::milliseconds period) {
  return {.period_s = std::chrono::duration<double>(period).count(),
          .quantum_j = static_cast<double>(public_quantum_uj(period)) / 1e6,
          .reason =
              "any user of this machine can ask at this port, and fine readings show what "
              "other users' programs compute",
          .remedy =
              "use the Unix socket or a token; or have the administrator start wattled with "
              "--signing-key-path, or with another --public-cpu-period"};
}

}  // namespace wattle::daemon
