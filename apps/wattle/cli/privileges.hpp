// Privileges that the program has and its user lacks: setuid, file capabilities.
#pragma once

namespace wattle::app {

/// True if the program was given such privileges (AT_SECURE).
[[nodiscard]] bool has_foreign_privileges() noexcept;

/// Puts them aside until `with_privileges`: real user and group, no capability in effect. Ends the
/// process where that fails. To be called first of all.
void lower_privileges() noexcept;
/// Takes up again what was put aside.
void raise_privileges() noexcept;

/// Gives them up for good, if there are any: real user and group, no capability. Files that are
/// open stay open. Ends the process where that fails: nothing may run with them by accident.
void drop_privileges() noexcept;

/// Calls `open`, which opens counters, and returns its result or throws its exception. Only `open`
/// runs with the privileges; after it they are given up for good.
template <class Open>
[[nodiscard]] auto with_privileges(Open open) {
  struct DropAtEnd {
    DropAtEnd() noexcept { raise_privileges(); }
    ~DropAtEnd() { drop_privileges(); }
    DropAtEnd(const DropAtEnd&) = delete;
    DropAtEnd& operator=(const DropAtEnd&) = delete;
  };
  const DropAtEnd guard;
  return open();
}

}  // namespace wattle::app
