// The names of tags and phases, as small numbers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wattle::detail {

/// Bounded: who names each request differently gets `kOther` for the rest. Names are never
/// forgotten. Threads: any; to find a known name takes no lock.
class UnitTags {
 public:
  /// The column of all tags that did not fit in.
  static constexpr std::uint16_t kOther = 0;
  static constexpr std::size_t kLongestName = 255;

  /// `most`: at least 1, beside `kOther`.
  explicit UnitTags(std::size_t most);

  /// The column of a tag, or of a phase of the tag `of`.
  [[nodiscard]] std::uint16_t column(std::string_view name,
                                     std::optional<std::uint16_t> of = std::nullopt);

  struct Name {
    std::string name;
    std::optional<std::uint16_t> of;  ///< the tag of a phase
  };
  /// So far, with that of `kOther`.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  /// `column` is below `size`.
  [[nodiscard]] const Name& name(std::uint16_t column) const noexcept { return *names_[column]; }
  /// How often a new name did not fit in.
  [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_; }

 private:
  [[nodiscard]] std::size_t place_of(std::string_view name,
                                     std::optional<std::uint16_t> of) const noexcept;

  std::size_t most_;
  std::size_t mask_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Name>> names_;  ///< has its full size from the start
  std::atomic<std::size_t> size_ = 0;
  /// By hash: a column; 0: free.
  std::vector<std::atomic<std::uint16_t>> places_;
  std::atomic<std::uint64_t> beyond_ = 0;
};

}  // namespace wattle::detail
