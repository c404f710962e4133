// A connection to a MongoDB server, and why it does not work.
#pragma once

#include <mongoc/mongoc.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "wattle/mongodb.hpp"

namespace wattle::mongodb {

/// Why something was not done.
struct Failure {
  DatabaseError::Cause cause = DatabaseError::Cause::server;
  std::string message;
};

/// To one collection. Threads: one at a time. In a process forked from the one that made it, it
/// must not be used, and does not end the other's connection when it goes.
class MongoConnection {
 public:
  /// Connects; throws `DatabaseError`.
  explicit MongoConnection(const MongoOptions& options);
  ~MongoConnection();
  MongoConnection(const MongoConnection&) = delete;
  MongoConnection& operator=(const MongoConnection&) = delete;

  /// Absent where the document is there. An earlier attempt whose answer was lost may have inserted
  /// it: no other process makes documents with its `_id`.
  [[nodiscard]] std::optional<Failure> insert(const bson_t* document);
  /// True in the process that made it.
  [[nodiscard]] bool is_ours() const noexcept;

 private:
  struct Destroy {
    void operator()(mongoc_uri_t* uri) const noexcept { ::mongoc_uri_destroy(uri); }
    void operator()(mongoc_client_t* client) const noexcept { ::mongoc_client_destroy(client); }
    void operator()(mongoc_collection_t* collection) const noexcept {
      ::mongoc_collection_destroy(collection);
    }
  };

  void ping() const;
  [[nodiscard]] DatabaseError cannot_connect(const bson_error_t& error) const;
  [[nodiscard]] Failure failure(const bson_error_t& error) const;

  pid_t owner_;
  std::unique_ptr<mongoc_uri_t, Destroy> uri_;
  std::unique_ptr<mongoc_client_t, Destroy> client_;
  std::unique_ptr<mongoc_collection_t, Destroy> collection_;
};

}  // namespace wattle::mongodb
