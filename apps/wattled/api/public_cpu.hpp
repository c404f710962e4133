// The CPU energy that TCP clients without a token may see.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/text.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

/// Too slow and too coarse to show what other users' programs do (CVE-2020-8694).
inline constexpr std::chrono::milliseconds kPublicCpuPeriod{1000};

/// Public energies are multiples of this, in µJ: mean powers over a period are multiples of 1 W.
/// Threads: any.
[[nodiscard]] constexpr std::uint64_t public_quantum_uj(std::chrono::milliseconds period) noexcept {
  return static_cast<std::uint64_t>(period.count()) * 1000;
}

/// The error for clients that take an energy as that of the moment of the answer.
[[nodiscard]] inline std::string public_cpu_effect(std::chrono::milliseconds period) {
  const double seconds = std::chrono::duration<double>(period).count();
  return fmt::format(
      "an energy is that of its timestamp_ms, up to {0:g} s before the answer; ZeusMonitor ignores "
      "that time: each end of its windows is up to {0:g} s early, and a window shorter than {0:g} "
      "s "
      "can be 0 J",
      seconds);
}

/// The limit, as /discover reports it to such a client.
[[nodiscard]] inline wire::CpuLimit public_cpu_limit(std::chrono::milliseconds period) {
  return {.period_s = std::chrono::duration<double>(period).count(),
          .quantum_j = static_cast<double>(public_quantum_uj(period)) / 1e6,
          .reason =
              "any user of this machine can ask at this port, and fine readings show what "
              "other users' programs compute",
          .effect = public_cpu_effect(period),
          .remedy =
              "use the Unix socket or a token; or have the administrator start wattled with "
              "--signing-key-path, or with another --public-cpu-period"};
}

/// The same for the log, since not all programs notice it. `place`: the port.
[[nodiscard]] inline std::string public_cpu_warning(std::string_view place,
                                                    std::chrono::milliseconds period) {
  const wire::CpuLimit limit = public_cpu_limit(period);
  return fmt::format("{} shows CPU energy once per {:g} s, in steps of {:g} J: {}; {}",
                     printable(place), limit.period_s, limit.quantum_j, limit.effect, limit.remedy);
}

}  // namespace wattle::daemon
