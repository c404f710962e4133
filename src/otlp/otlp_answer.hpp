// The answer of a collector, and what it means.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "otlp/otlp_values.hpp"

namespace wattle::otlp {

/// Threads: a value type.
struct OtlpAnswer {
  int status = 0;         ///< of HTTP; 0: there is no answer
  std::string body{};     ///< at most `kMostAnswerBytes` of it
  std::string failure{};  ///< why there is no answer, safe to print
  /// From the answer's `Retry-After`; absent: it has none.
  std::optional<std::chrono::seconds> retry_after{};
};

inline constexpr std::size_t kMostAnswerBytes = std::size_t{64} << 10U;

enum class OtlpVerdict : std::uint8_t {
  accepted,  ///< all of it, or all but `rejected`
  retry,     ///< the same request, later
  refused,   ///< for good
};

/// Threads: a value type.
struct OtlpOutcome {
  OtlpVerdict verdict = OtlpVerdict::accepted;
  std::uint64_t rejected = 0;                  ///< of the request's items
  std::string reason{};                        ///< of a failure, or a warning; safe to print
  std::optional<std::chrono::seconds> wait{};  ///< at least that long before a retry
};

/// By the rules of OTLP/HTTP. `items`: in the request.
[[nodiscard]] OtlpOutcome outcome_of(const OtlpAnswer& answer, OtlpSignal signal,
                                     std::uint64_t items);

}  // namespace wattle::otlp
