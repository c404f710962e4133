// 128-bit integers: sums of products of 64-bit numbers, without loss.
#pragma once

namespace wattle {

// Not in ISO C++, but in every compiler for 64-bit machines.
__extension__ using Uint128 = unsigned __int128;

}  // namespace wattle
