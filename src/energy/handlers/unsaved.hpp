// Items that a handler keeps until they are saved.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <list>
#include <mutex>
#include <string_view>
#include <utility>

#include "wattle/export.hpp"

namespace wattle {

/// Logs that `count` of `what` ("samples") never reached `destination`. Exported for the component
/// wattle::mongodb.
WATTLE_EXPORT void log_unsaved(std::size_t count, std::string_view what,
                               std::string_view destination) noexcept;

/// A queue whose items are taken all at once, and come back where they could not be saved.
/// Threads: any; adding never waits for a save.
template <class Item>
class Unsaved {
 public:
  /// The items taken. Those left at its destruction are put back, before all others.
  class Batch {
   public:
    explicit Batch(Unsaved& from) : from_(from) {
      const std::lock_guard lock(from_.mutex_);
      items_.swap(from_.items_);
    }
    ~Batch() {
      const std::lock_guard lock(from_.mutex_);
      from_.items_.splice(from_.items_.begin(), items_);
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    [[nodiscard]] std::list<Item>& items() noexcept { return items_; }

   private:
    Unsaved& from_;
    std::list<Item> items_;
  };

  /// `make()` makes the item; called by one thread at a time.
  template <class Make>
  void add(Make make) {
    const std::lock_guard lock(mutex_);
    items_.push_back(make());
  }

  /// The samples that will not be saved. None in a process that was forked from the one that made
  /// this object: there it is a copy, which the other answers for.
  [[nodiscard]] const std::list<Item>& at_end() noexcept {
    if (::getpid() != owner_) items_.clear();
    return items_;
  }

 private:
  const pid_t owner_ = ::getpid();
  std::mutex mutex_;
  std::list<Item> items_;
};

}  // namespace wattle
