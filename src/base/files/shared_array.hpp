// Memory that one thread writes while others read it.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>

namespace wattle {

/// A fixed number of unsigned integers. A reader may come upon one while it is replaced: it gets
/// the old or the new one, and with the new one sees everything that the writer did before. So a
/// reader who copies some of them and then finds that the writer had not yet announced their reuse
/// knows that the copy is whole. On x86 both accesses are plain moves.
///
/// The numbers are not initialized: the system provides a page when it is first written.
/// Threads: one may store while any load.
template <std::unsigned_integral T>
class SharedArray {
 public:
  explicit SharedArray(std::size_t size)
      // NOLINTNEXTLINE(modernize-avoid-c-arrays): the one way to leave the numbers uninitialized
      : items_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {
    static_assert(std::atomic_ref<T>::is_always_lock_free);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// `index` is below `size()`.
  [[nodiscard]] T load(std::size_t index) const noexcept {
    return std::atomic_ref(items_[index]).load(std::memory_order_acquire);
  }
  void store(std::size_t index, T item) noexcept {
    std::atomic_ref(items_[index]).store(item, std::memory_order_release);
  }

 private:
  std::unique_ptr<T[]> items_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_;
};

}  // namespace wattle
