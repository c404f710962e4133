#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/text/text.hpp"
#include "energy/handlers/handler.hpp"
#include "energy/mongodb/connection.hpp"
#include "energy/mongodb/document.hpp"
#include "wattle/mongodb.hpp"

namespace wattle {
namespace {

using mongodb::Failure;

/// A trace that waits to be inserted.
struct WaitingTrace {
  EnergyTrace trace;
  std::string name;
  /// Chosen here and kept: a second attempt cannot insert a document twice.
  bson_oid_t id{};
};

bson_oid_t new_id() noexcept {
  bson_oid_t id;
  ::bson_oid_init(&id, nullptr);
  return id;
}

void require_name(const std::string& name, const char* what) {
  if (!name.empty() && name.find('\0') == std::string::npos) return;
  throw InvalidArgument(std::string("MongoHandler needs the name of a ") + what + ", not \"" +
                        printable(name) + "\"");
}

MongoOptions checked(MongoOptions options) {
  require_name(options.database, "database");
  require_name(options.collection, "collection");
  if (options.connect_timeout <= std::chrono::milliseconds::zero()) {
    throw InvalidArgument("MongoHandler needs a connect_timeout above 0, not " +
                          std::to_string(options.connect_timeout.count()) + " ms");
  }
  return options;
}

std::optional<Failure> insert(mongodb::MongoConnection& connection, const WaitingTrace& entry,
                              SampleDetails details) {
  const std::optional<mongodb::Bson> document =
      mongodb::make_document(entry.id, entry.name, entry.trace, details);
  if (!document) {
    return Failure{.message = "the " + std::to_string(entry.trace.size()) + " samples of " +
                              printable(entry.name) +
                              " are more than a MongoDB document can hold (16 MiB); let the "
                              "handler process shorter traces"};
  }
  return connection.insert(document->get());
}

}  // namespace

DatabaseError::DatabaseError(Cause cause, const std::string& message)
    : Error(message), cause_(cause) {}
DatabaseError::~DatabaseError() = default;

struct MongoHandler::State {
  explicit State(MongoOptions chosen) : options(checked(std::move(chosen))), connection(options) {}

  MongoOptions options;
  std::mutex saving;
  mongodb::MongoConnection connection;
  std::uint64_t next_number = 0;  ///< changed by one thread at a time: within `unsaved.add`
  Unsaved<WaitingTrace> unsaved;
};

MongoHandler::MongoHandler(MongoOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

MongoHandler::~MongoHandler() {
  const std::size_t traces = state_->unsaved.at_end().size();
  if (traces == 0) return;
  log_unsaved(traces, "traces", state_->options.database + "." + state_->options.collection);
}

void MongoHandler::process(const EnergyTrace& trace) {
  state_->unsaved.add([&] {
    WaitingTrace entry{
        .trace = trace,
        .name = state_->options.trace_name_prefix + std::to_string(state_->next_number),
        .id = new_id()};
    ++state_->next_number;
    return entry;
  });
}

void MongoHandler::save_data() {
  const std::lock_guard lock(state_->saving);
  if (!state_->connection.is_ours()) {
    throw DatabaseError(DatabaseError::Cause::unreachable,
                        "cannot save traces: the connection to MongoDB is that of the parent "
                        "process; make another handler after fork");
  }
  Unsaved<WaitingTrace>::Batch batch(state_->unsaved);
  if (batch.items().empty()) {
    throw NoSampleProcessed(
        "cannot save to MongoDB: the handler was given no trace since it was "
        "last saved");
  }
  const SampleDetails details = state_->options.details;
  std::optional<Failure> first;
  for (auto entry = batch.items().begin(); entry != batch.items().end();) {
    std::optional<Failure> failure = insert(state_->connection, *entry, details);
    if (!failure) {
      if (!details.details) warn_of_lower_bounds(entry->trace, entry->name);
      entry = batch.items().erase(entry);
      continue;
    }
    ++entry;
    const bool in_vain = failure->cause == DatabaseError::Cause::unreachable;
    if (!first) first = std::move(failure);
    // One document that is refused keeps no other back.
    if (in_vain) break;
  }
  if (!first) return;
  const std::size_t kept = batch.items().size();
  throw DatabaseError(first->cause,
                      "cannot save " +
                          (kept == 1 ? "1 trace, which is kept: "
                                     : std::to_string(kept) + " traces, which are kept: ") +
                          first->message);
}

}  // namespace wattle
