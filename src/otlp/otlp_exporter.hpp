// Sends telemetry to a collector, in a thread of its own: nobody waits for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/worker.hpp"
#include "otlp/otlp_post.hpp"
#include "otlp/otlp_values.hpp"

namespace wattle::otlp {

struct OtlpExporterOptions {
  std::string name;   ///< of the collector, for messages
  std::string spool;  ///< folder of what waits; empty: it waits in memory
  /// The most that may wait. The oldest is dropped first.
  std::uint64_t most_bytes = std::uint64_t{64} << 20U;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< of one request
  std::chrono::nanoseconds first_delay = std::chrono::milliseconds(500);
  std::chrono::nanoseconds longest_delay = std::chrono::seconds(30);
  /// Gets a line for each loss, and when the collector fails and works again; at most one a minute
  /// of a kind: later ones count what they stand for. Threads: the exporter's.
  std::function<void(std::string_view)> say{};
};

/// Requests are sent one after the other, the oldest first. Those that may be sent again are sent
/// until they are accepted; those that are refused are dropped, and that is said. Threads: any.
class OtlpExporter {
 public:
  /// Throws `Error` for a spool that cannot be used, or if no thread can be started. `clock`
  /// outlives its thread.
  OtlpExporter(OtlpExporterOptions options, std::unique_ptr<OtlpPost> post,
               const TimeSource& clock);
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;
  /// As `finish`, without patience.
  ~OtlpExporter();

  /// Returns at once.
  void add(OtlpBatch batch);

  /// Sends what waits, unless the collector fails, for at most `patience`. What remains stays in
  /// the spool, or is dropped, which is said. Nothing is sent afterwards. False: the thread hangs.
  bool finish(std::chrono::nanoseconds patience) noexcept;

 private:
  class Work;
  std::shared_ptr<Work> work_;
  std::unique_ptr<Worker> worker_;
  bool has_finished_ = false;
};

}  // namespace wattle::otlp
