// Exit statuses of the program.
#pragma once

namespace wattle::app {

/// A wrong option of `wattle run`, or Wattle's own failure there: as env(1), timeout(1), nohup(1).
inline constexpr int kRunFailed = 125;
/// A wrong command line elsewhere: EX_USAGE of sysexits.h.
inline constexpr int kUsageError = 64;

}  // namespace wattle::app
