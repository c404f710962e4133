// Privileges that the program has and its user lacks: setuid, file capabilities.
#pragma once

namespace wattle::app {

/// True if the program was given such privileges (AT_SECURE).
[[nodiscard]] bool has_foreign_privileges() noexcept;

/// Gives them up for good, if there are any: real user and group, no capability. Files that are
/// open stay open. Ends the process where that fails: nothing may run with them by accident.
void drop_privileges() noexcept;

}  // namespace wattle::app
