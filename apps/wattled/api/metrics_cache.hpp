// The last answers to /metrics, for callers that need no new one.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/metrics_text.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {

/// One answer of each kind. Threads: one at a time.
class MetricsCache {
 public:
  /// What makes answers different.
  struct Kind {
    MetricsFormat format = MetricsFormat::prometheus;
    bool is_coarse = false;
    bool has_units = false;
    bool has_shares = false;

    bool operator==(const Kind&) const = default;
  };

  /// Null: there is none that was made after `oldest`.
  [[nodiscard]] const std::string* find(const Kind& kind, TimePoint oldest) const noexcept {
    const auto found = std::ranges::find(answers_, kind, &Answer::kind);
    return found != answers_.end() && found->at > oldest ? &found->text : nullptr;
  }
  void keep(const Kind& kind, TimePoint at, std::string text) {
    const auto found = std::ranges::find(answers_, kind, &Answer::kind);
    Answer answer{.kind = kind, .at = at, .text = std::move(text)};
    if (found == answers_.end()) {
      answers_.push_back(std::move(answer));
    } else {
      *found = std::move(answer);
    }
  }

 private:
  struct Answer {
    Kind kind;
    TimePoint at;
    std::string text;
  };
  std::vector<Answer> answers_{};
};

}  // namespace wattle::daemon
