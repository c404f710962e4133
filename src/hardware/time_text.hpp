// Times of day as the run monitor's files show them.
#pragma once

#include <string>

namespace wattle {

/// "2026-11-21T01:50:09.123+00:00"
[[nodiscard]] std::string utc_text(double unix_s);

/// "2026/11/21 01:50:09.123" in the local zone, as nvidia-smi writes it.
[[nodiscard]] std::string local_text(double unix_s);

}  // namespace wattle
