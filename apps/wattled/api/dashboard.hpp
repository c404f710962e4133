// The page for browsers, as it is built from web/ and embedded.
#pragma once

#include <string_view>

namespace wattle::daemon {

struct DashboardPage {
  std::string_view html;
  std::string_view policy;  ///< its Content-Security-Policy: this style and this script alone
};

/// Threads: any.
[[nodiscard]] DashboardPage dashboard_page() noexcept;

}  // namespace wattle::daemon
