// A MongoDB server as far as a client of libmongoc that inserts and finds can tell: speaks its wire
// protocol on a loopback port (OP_MSG; OP_QUERY for the first hello), keeps what is inserted, and
// fails as told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/files/fd.hpp"

namespace wattle::fakes {

/// Threads: any.
class MongoServer {
 public:
  /// How an insert is answered.
  enum class Answer : std::uint8_t {
    inserted,
    document_refused,      ///< error of one document: it fails the collection's validation
    command_refused,       ///< error of the command: no right to insert
    another_key_is_taken,  ///< another document has its value of a unique index
    not_replicated,        ///< inserted, but not on as many servers as asked for
    hang_up_before,        ///< the connection ends; nothing is inserted
    hang_up_after,         ///< the document is inserted, then the connection ends
  };

  MongoServer();
  ~MongoServer();
  MongoServer(const MongoServer&) = delete;
  MongoServer& operator=(const MongoServer&) = delete;

  /// "mongodb://127.0.0.1:PORT".
  [[nodiscard]] std::string uri() const;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The next inserts are answered so, one after the other; those after them are inserted.
  void answer_inserts(std::deque<Answer> answers);
  /// How many insert commands came.
  [[nodiscard]] std::size_t inserts() const;

 private:
  struct Stored {
    std::string collection;  ///< with its database
    std::string bytes;       ///< the document, BSON
  };
  /// What a message from a client asks for.
  struct Request {
    std::int32_t id = 0;
    bool legacy = false;  ///< OP_QUERY, to be answered by OP_REPLY
    std::string command;  ///< BSON
    std::vector<std::string> documents;
  };

  void serve();
  [[nodiscard]] bool serve_one(int client);
  /// The answer's document; empty to hang up.
  [[nodiscard]] std::string answer(const Request& request);
  [[nodiscard]] std::string insert(const std::string& collection, const Request& request);
  [[nodiscard]] std::string find(const std::string& collection) const;
  [[nodiscard]] static Request parse(std::string_view message);

  Fd listener_;
  Fd stop_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::deque<Answer> answers_;
  std::vector<Stored> stored_;
  std::size_t inserts_ = 0;
  std::jthread thread_;
};

}  // namespace wattle::fakes
