// A server with a collection, what is in it, and what using it throws.
#pragma once

#include <gtest/gtest.h>
#include <mongoc/mongoc.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "fakes/mongo_server.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"
#include "wattle/mongodb.hpp"

namespace wattle::testing_mongo {

inline EnergyTrace one_sample(const std::string& tag) {
  return EnergyTrace({testing_samples::sample(tag, {{"d1", testing_samples::joules(1)}})});
}

/// A collection of a database, as any client sees it.
class Collection {
 public:
  Collection(const std::string& uri, const std::string& database, const std::string& collection) {
    ::mongoc_init();
    client_ = ::mongoc_client_new(uri.c_str());
    collection_ = ::mongoc_client_get_collection(client_, database.c_str(), collection.c_str());
  }
  ~Collection() {
    ::mongoc_collection_destroy(collection_);
    ::mongoc_client_destroy(client_);
  }
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  /// Every document without its `_id`, as extended JSON, which shows the types of numbers.
  [[nodiscard]] std::vector<std::string> documents() {
    std::vector<std::string> documents;
    bson_t all;
    ::bson_init(&all);
    mongoc_cursor_t* const cursor =
        ::mongoc_collection_find_with_opts(collection_, &all, nullptr, nullptr);
    const bson_t* document = nullptr;
    while (::mongoc_cursor_next(cursor, &document)) documents.push_back(json_of(*document));
    bson_error_t error;
    EXPECT_FALSE(::mongoc_cursor_error(cursor, &error)) << &error.message[0];
    ::mongoc_cursor_destroy(cursor);
    ::bson_destroy(&all);
    return documents;
  }
  void drop() { ::mongoc_collection_drop(collection_, nullptr); }

 private:
  static std::string json_of(const bson_t& document) {
    bson_t rest;
    ::bson_init(&rest);
    ::bson_copy_to_excluding_noinit(&document, &rest, "_id", nullptr);
    char* const json = ::bson_as_canonical_extended_json(&rest, nullptr);
    std::string text = json;
    ::bson_free(json);
    ::bson_destroy(&rest);
    return text;
  }

  mongoc_client_t* client_ = nullptr;
  mongoc_collection_t* collection_ = nullptr;
};

/// Has a server of its own, and what went to the log.
class MongoTest : public testing::Test {
 protected:
  MongoTest() {
    set_log([this](std::string_view message) { messages_.emplace_back(message); });
  }
  ~MongoTest() override { set_log({}); }

  [[nodiscard]] MongoOptions options() const {
    return {.uri = server_.uri(),
            .database = "wattle",
            .collection = "traces",
            .connect_timeout = std::chrono::seconds(20)};
  }
  [[nodiscard]] Collection collection() const {
    return Collection(server_.uri(), "wattle", "traces");
  }
  /// The names of the stored traces, in order.
  [[nodiscard]] std::vector<std::string> names() const {
    const std::string before = "{ \"name\" : \"";
    std::vector<std::string> names;
    for (const std::string& document : collection().documents()) {
      names.push_back(
          document.substr(before.size(), document.find('"', before.size()) - before.size()));
    }
    return names;
  }

  fakes::MongoServer server_;
  std::vector<std::string> messages_;
};

/// What `call` throws.
struct Thrown {
  DatabaseError::Cause cause{};
  std::string message;
};
inline Thrown thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const DatabaseError& error) {
    return {.cause = error.cause(), .message = error.what()};
  }
  ADD_FAILURE() << "no DatabaseError was thrown";
  return {};
}

}  // namespace wattle::testing_mongo
