// One request of HTTP.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

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

/// It asks no proxy, and follows no redirect. Throws `InvalidArgument` for a URL that is none, and
/// `Error` if it needs TLS, and libcurl cannot be loaded.
[[nodiscard]] std::unique_ptr<OtlpPost> make_post(OtlpTarget target);

/// With libcurl, which is loaded by this. Throws `Error` if it cannot be.
[[nodiscard]] std::unique_ptr<OtlpPost> make_curl_post(OtlpTarget target);

}  // namespace wattle::otlp
