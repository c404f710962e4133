// The message for a client whose daemon shows CPU energy rounded and rarely.
#pragma once

#include <fmt/format.h>

#include <string>

#include "wire/messages.hpp"

namespace wattle::client {

/// "it shows CPU energy once per 1 s, in steps of 1 J: WHY; WHAT TO DO". Threads: any.
[[nodiscard]] inline std::string to_string(const wire::CpuLimit& limit) {
  return fmt::format("it shows CPU energy once per {:g} s, in steps of {:g} J: {}; {}",
                     limit.period_s, limit.quantum_j, limit.reason, limit.remedy);
}

}  // namespace wattle::client
