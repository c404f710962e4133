// The JSON of OTLP: the requests.
#pragma once

#include <vector>

#include "otlp/otlp_values.hpp"

namespace wattle::otlp {

/// `resource`: what all of it is about: host.name, service.name. Values that are no finite numbers,
/// and metrics without a point, are left out; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] OtlpBatch metrics_batch(const OtlpAttributes& resource,
                                      const std::vector<OtlpMetric>& metrics);
[[nodiscard]] OtlpBatch spans_batch(const OtlpAttributes& resource,
                                    const std::vector<OtlpSpan>& spans);

}  // namespace wattle::otlp
