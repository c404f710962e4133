// Sums of values, some of them unknown.
#pragma once

#include <optional>

namespace wattle {

/// Absent if `a` or `b` is.
template <class T>
[[nodiscard]] constexpr std::optional<T> known_sum(const std::optional<T>& a,
                                                   const std::optional<T>& b) {
  return a && b ? std::optional<T>(*a + *b) : std::nullopt;
}

/// Threads: one at a time.
template <class T>
class KnownSum {
 public:
  void add(const std::optional<T>& value) {
    sum_ = is_first_ ? value : known_sum(sum_, value);
    is_first_ = false;
  }
  /// Absent if nothing was added, or something that is absent.
  [[nodiscard]] std::optional<T> value() const { return sum_; }

 private:
  std::optional<T> sum_;
  bool is_first_ = true;
};

}  // namespace wattle
