// The answer to /api/v1/energy.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/answer_cache.hpp"
#include "devices/energy_history.hpp"
#include "http/response.hpp"

namespace wattle::daemon {

/// The parameters that make answers different.
struct EnergyKind {
  std::string query;  ///< as it was sent
  bool is_coarse = false;

  bool operator==(const EnergyKind&) const = default;
};
/// The last answers to callers who take those to others, with `max_age=SECONDS`.
using EnergyCache = AnswerCache<EnergyKind>;

/// The energy from `from` to `to` (Unix seconds; both required in `query`). 400 for an invalid
/// window; 404 if `history` is null. `public_period` > 0: rounds both times down to multiples of
/// it, and CPU counters to its quantum (see public_cpu.hpp). Throws `QueryFault`. Threads: the
/// loop's.
[[nodiscard]] Response energy_answer(EnergyHistory* history, std::string_view query,
                                     std::chrono::milliseconds public_period);

}  // namespace wattle::daemon
