// The options of --enable shares.
#pragma once

#include <string>

#include "shares/shared_energy.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::daemon {

/// As they were given.
struct RawShareOptions {
  std::string top = "200";
  std::string interval = "5";
  std::string baseline;
  std::string kubelet;
  std::string pod_logs;
};

/// The names of these options, for those that have no effect.
inline constexpr auto kShareOptions = {"--shares-top", "--shares-interval", "--shares-baseline",
                                       "--kubelet-dir", "--pod-logs-dir"};

void add_share_options(CLI::App& serve, RawShareOptions& raw);
/// Without the system, and what strangers may see. Throws `InvalidArgument`.
[[nodiscard]] SharesOptions checked_shares(const RawShareOptions& raw);

}  // namespace wattle::daemon
