// The last answers to /metrics.
#pragma once

#include "api/answer_cache.hpp"
#include "api/metrics_text.hpp"

namespace wattle::daemon {

struct MetricsKind {
  MetricsFormat format = MetricsFormat::prometheus;
  bool is_coarse = false;
  bool has_units = false;
  bool has_shares = false;

  bool operator==(const MetricsKind&) const = default;
};

/// An answer of each kind.
class MetricsCache : public AnswerCache<MetricsKind> {
 public:
  MetricsCache() noexcept : AnswerCache(kMost) {}

 private:
  static constexpr std::size_t kMost = 32;
};

}  // namespace wattle::daemon
