// One request of HTTP, with libcurl, which is loaded when it is needed.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "otlp/otlp_answer.hpp"
#include "otlp/otlp_target.hpp"

namespace wattle::otlp {

/// Sends a request. `is_over`: true ends it early, as a failure. Returns within about a second of
/// that, or of `timeout`. Threads: one at a time.
class OtlpPost {
 public:
  OtlpPost() = default;
  OtlpPost(const OtlpPost&) = delete;
  OtlpPost& operator=(const OtlpPost&) = delete;
  virtual ~OtlpPost() = default;

  [[nodiscard]] virtual OtlpAnswer post(const OtlpBatch& batch, std::chrono::milliseconds timeout,
                                        const std::function<bool()>& is_over) = 0;
};

/// Throws `Error` if libcurl cannot be loaded. It asks no proxy, and follows no redirect.
[[nodiscard]] std::unique_ptr<OtlpPost> make_curl_post(OtlpTarget target);

}  // namespace wattle::otlp
