// Whether the program is built with a sanitizer, under which everything takes 10 to 20 times as
// long: tests that count in millions count less far then.
#pragma once

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WATTLE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WATTLE_SANITIZED 1
#endif
#endif
#ifndef WATTLE_SANITIZED
#define WATTLE_SANITIZED 0
#endif

namespace wattle {

inline constexpr bool kSanitized = WATTLE_SANITIZED != 0;

}  // namespace wattle
