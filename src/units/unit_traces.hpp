// The traces that units belong to, until their energy is final.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/text/trace_context.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

/// Units without a trace cost nothing here but one load. Threads: any.
class UnitTraces {
 public:
  /// Keeps the trace of a running unit. Drops it if there is no memory.
  void keep(UnitId unit, const TraceContext& trace) noexcept try {
    const std::lock_guard lock(mutex_);
    traces_.insert_or_assign(unit, trace);
    count_.store(traces_.size(), std::memory_order_release);
  } catch (const std::exception&) {
    return;
  }

  /// Forgets it.
  [[nodiscard]] std::optional<TraceContext> take(UnitId unit) noexcept {
    if (count_.load(std::memory_order_acquire) == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto found = traces_.find(unit);
    if (found == traces_.end()) return std::nullopt;
    const TraceContext trace = found->second;
    traces_.erase(found);
    count_.store(traces_.size(), std::memory_order_release);
    return trace;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<UnitId, TraceContext> traces_;
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace wattle::detail
