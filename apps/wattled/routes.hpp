// The table of all that can be asked for.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "service.hpp"

namespace wattle::daemon {

/// Who may ask for something.
enum class Open : std::uint8_t {
  everybody,  ///< with a key in use too
  who_has_any_token,
  who_reads_all,   ///< whose token has the scopes of everything that is served
  where_keys_are,  ///< likewise; without a key in use there is no such thing
};
/// A scope, or the rule for what belongs to none.
using Needed = std::variant<Scope, Open>;

struct Route {
  std::string_view method;
  std::string_view path;
  Needed needed;
  /// Null for what is not in this version.
  void (*handle)(Service&, const Request&, const std::shared_ptr<Exchange>&);
};

[[nodiscard]] std::span<const Route> routes() noexcept;

/// The route with that path, whatever its method; null where there is none.
[[nodiscard]] const Route* find_route(std::string_view path) noexcept;

}  // namespace wattle::daemon
