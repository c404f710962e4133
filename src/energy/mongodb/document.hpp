// A trace as a document of MongoDB.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "energy/mongodb/bson.hpp"
#include "wattle/energy_trace.hpp"
#include "wattle/handlers.hpp"

namespace wattle::mongodb {

/// The most that a server takes, whatever its version ("BSON document size" in the manual's
/// "MongoDB Limits and Thresholds").
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{16} << 20U;

/// {"_id": id, "name": name, "trace": [...]}; absent where that is more than a document can be.
[[nodiscard]] std::optional<Bson> make_document(const bson_oid_t& id, const std::string& name,
                                                const EnergyTrace& trace, SampleDetails details);

}  // namespace wattle::mongodb
