// The last answers to a question that many callers ask, for those that need no new one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "http/target.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {

/// How old an answer may be for the caller of this query, by its `max_age`; 0: it is made for the
/// caller. Other parameters are not its business: a scraper may have some. Throws `QueryFault` if
/// `max_age` is no whole number.
[[nodiscard]] inline std::chrono::seconds accepted_age(std::string_view query) {
  constexpr std::uint32_t kMost = 60;
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    if (take_until(value, '=') != "max_age") continue;
    if (const auto age = parse_unsigned<std::uint32_t>(value)) {
      return std::chrono::seconds(std::min(*age, kMost));
    }
    throw QueryFault("`max_age` must be a whole number of seconds.", QueryFault::Form::json);
  }
  return std::chrono::seconds(0);
}

/// One answer of each kind, the newest `most` of them. `AnswerKind`: what makes answers different.
/// Threads: one at a time.
template <class AnswerKind>
class AnswerCache {
 public:
  using Kind = AnswerKind;

  explicit AnswerCache(std::size_t most) noexcept : most_(most) {}

  /// Null: there is none that was made after `oldest`.
  [[nodiscard]] const std::string* find(const Kind& kind, TimePoint oldest) const noexcept {
    const auto found = std::ranges::find(answers_, kind, &CachedAnswer::kind);
    return found != answers_.end() && found->at > oldest ? &found->text : nullptr;
  }
  void keep(const Kind& kind, TimePoint at, std::string text) {
    CachedAnswer answer{.kind = kind, .at = at, .text = std::move(text)};
    auto place = std::ranges::find(answers_, kind, &CachedAnswer::kind);
    if (place == answers_.end() && answers_.size() >= most_) {
      place = std::ranges::min_element(answers_, {}, &CachedAnswer::at);
    }
    if (place == answers_.end()) {
      answers_.push_back(std::move(answer));
    } else {
      *place = std::move(answer);
    }
  }

 private:
  struct CachedAnswer {
    Kind kind;
    TimePoint at;
    std::string text;
  };
  std::size_t most_;
  std::vector<CachedAnswer> answers_{};
};

}  // namespace wattle::daemon
