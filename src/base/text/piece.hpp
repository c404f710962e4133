// How much is written at once.
#pragma once

#include <cstddef>

namespace wattle {

/// Text is read and written when about this much has come together: few system calls, little
/// memory, however long a file is.
inline constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

}  // namespace wattle
