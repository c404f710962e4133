// Counts the allocations of a program, so that a hidden one shows.
#pragma once

#include <cstdint>

/// Calls of operator new so far. Linking this file in replaces the program's operator new. Threads:
/// any.
[[nodiscard]] std::uint64_t allocations() noexcept;
