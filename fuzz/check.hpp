// What a fuzz target demands of the code under test.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// What libFuzzer calls; or one of the targets in a program that has all of them: see
// run_corpus.cpp.
#ifdef WATTLE_ALL_TARGETS
#define FUZZ_TARGET(name) extern "C" int fuzz_##name
#else
#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput
#endif

namespace wattle::fuzz {

/// Ends the process, and so the fuzzer's run, where `holds` is false.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// The input as text.
inline std::string_view text_of(const unsigned char* data, std::size_t size) {
  // The fuzzer's bytes are characters here.
  return {reinterpret_cast<const char*>(data), size};
}

/// True if `text` is well-formed UTF-8 without control characters (C0, DEL, C1). Decodes code
/// points, so that it shares no thought with the code under test.
inline bool is_clean(std::string_view text) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    unsigned code = byte(i);
    std::size_t more = 0;
    unsigned smallest = 0;
    if (code >= 0xF0) {
      more = 3, smallest = 0x10000, code &= 0x07U;
      if (byte(i) >= 0xF8) return false;
    } else if (code >= 0xE0) {
      more = 2, smallest = 0x800, code &= 0x0FU;
    } else if (code >= 0xC0) {
      more = 1, smallest = 0x80, code &= 0x1FU;
    } else if (code >= 0x80) {
      return false;
    }
    if (text.size() - i <= more) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return false;
      code = (code << 6U) | (byte(i + k) & 0x3FU);
    }
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < smallest || code > 0x10FFFF || is_surrogate) return false;
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return false;
    i += 1 + more;
  }
  return true;
}

}  // namespace wattle::fuzz
