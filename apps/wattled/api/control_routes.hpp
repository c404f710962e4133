// The routes that set GPUs.
#pragma once

#include <span>

#include "api/routes.hpp"

namespace wattle::daemon {

[[nodiscard]] std::span<const Route> control_routes() noexcept;

}  // namespace wattle::daemon
