// A trace as a document of MongoDB, and the handle of such a document.
#pragma once

#include <bson/bson.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "wattle/energy_trace.hpp"
#include "wattle/handlers.hpp"

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

/// The most that a server takes, whatever its version ("BSON document size" in the manual's
/// "MongoDB Limits and Thresholds").
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{16} << 20U;

/// {"_id": id, "name": name, "trace": [...]}; absent where that is more than a document can be.
[[nodiscard]] std::optional<Bson> make_document(const bson_oid_t& id, const std::string& name,
                                                const EnergyTrace& trace, SampleDetails details);

}  // namespace wattle::mongodb
