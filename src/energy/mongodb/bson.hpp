// A BSON document that destroys itself. (std::unique_ptr would drop bson_t's alignment, and g++
// says so.)
#pragma once

#include <bson/bson.h>

#include <utility>

namespace wattle::mongodb {

/// Threads: a value type, movable.
class Bson {
 public:
  /// An empty document.
  Bson() noexcept : bson_(::bson_new()) {}
  Bson(Bson&& other) noexcept : bson_(std::exchange(other.bson_, nullptr)) {}
  Bson& operator=(Bson&& other) noexcept {
    std::swap(bson_, other.bson_);
    return *this;
  }
  Bson(const Bson&) = delete;
  Bson& operator=(const Bson&) = delete;
  ~Bson() { ::bson_destroy(bson_); }

  [[nodiscard]] bson_t* get() const noexcept { return bson_; }

 private:
  bson_t* bson_;
};

}  // namespace wattle::mongodb
