// The window of a query for the past: `from` and `to` in Unix seconds.
#pragma once

#include <chrono>

#include "http/target.hpp"

namespace wattle::daemon {

struct UnixWindow {
  double from = 0.0;
  double to = 0.0;
};

/// The window of `from` and `to` in `query`. Throws `QueryFault` if one of them is missing or is no
/// time, or the window is empty.
[[nodiscard]] UnixWindow window_in(const UrlQuery& query);

/// Rounds both ends down to multiples of `period`, above 0. Throws `QueryFault` if nothing is left.
[[nodiscard]] UnixWindow rounded_down(const UnixWindow& window, std::chrono::milliseconds period);

}  // namespace wattle::daemon
