#include "energy/mongodb/connection.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <string_view>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "energy/mongodb/document.hpp"

namespace wattle::mongodb {
namespace {

using Cause = DatabaseError::Cause;

/// The server's code for a document that is there already ("DuplicateKey" in its error_codes.yml).
constexpr std::uint32_t kDuplicateKey = 11000;

std::string text_of(const bson_error_t& error) {
  const std::string_view message = static_cast<const char*>(error.message);
  return printable(message, message.size());
}

std::int32_t milliseconds_of(std::chrono::milliseconds timeout) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min<std::int64_t>(timeout.count(), kMost));
}

/// Logs libmongoc's warnings, which it would print by default.
void pass_on(mongoc_log_level_t level, const char* /*domain*/, const char* message,
             void* /*context*/) noexcept {
  if (level > MONGOC_LOG_LEVEL_WARNING) return;
  try {
    const std::string_view text = message;
    log("libmongoc: " + printable(text, text.size()));
  } catch (const std::exception&) {
    // Out of memory: libmongoc, which called, is C.
  }
}

/// Never undone: mongoc_cleanup is final, and the program may use libmongoc itself.
void initialize_libmongoc() {
  static std::once_flag once;
  std::call_once(once, [] {
    ::mongoc_init();
    ::mongoc_log_set_handler(pass_on, nullptr);
  });
}

/// The server is looked for until the time is over, not once: it may be about to start.
void set_timeout(mongoc_uri_t* uri, std::chrono::milliseconds timeout) {
  const std::int32_t all = milliseconds_of(timeout);
  ::mongoc_uri_set_option_as_bool(uri, MONGOC_URI_SERVERSELECTIONTRYONCE, false);
  ::mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, all);
  const std::int32_t one_try = ::mongoc_uri_get_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS,
                                                                MONGOC_DEFAULT_CONNECTTIMEOUTMS);
  ::mongoc_uri_set_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, std::min(one_try, all));
}

/// "a:27017, b:27017": never the whole URI, which may hold a password.
std::string hosts_of(const mongoc_uri_t* uri) {
  std::string hosts;
  for (const mongoc_host_list_t* host = ::mongoc_uri_get_hosts(uri); host != nullptr;
       host = host->next) {
    hosts += hosts.empty() ? "" : ", ";
    hosts += printable(static_cast<const char*>(host->host_and_port));
  }
  if (!hosts.empty()) return hosts;
  // Those of a mongodb+srv URI are not known before its name is looked up.
  const char* const name = ::mongoc_uri_get_srv_hostname(uri);
  return name != nullptr ? printable(name) : "no host";
}

DatabaseError bad_uri(const bson_error_t& error) {
  return {Cause::bad_uri, "cannot understand the URI of the MongoDB server: " + text_of(error) +
                              "; example: mongodb://localhost:27017"};
}

/// True if the server refused a document because one with its `_id` is there. The first index that
/// the text names is the one that refused; values of the document come after it.
bool is_there_already(const bson_error_t& error) {
  if (error.code != kDuplicateKey) return false;
  const std::string_view text = static_cast<const char*>(error.message);
  constexpr std::string_view kIndex = " index: ";
  const std::size_t at = text.find(kIndex);
  return at != std::string_view::npos && text.substr(at + kIndex.size()).starts_with("_id_ ");
}

}  // namespace

MongoConnection::MongoConnection(const MongoOptions& options) : owner_(::getpid()) {
  initialize_libmongoc();
  bson_error_t error{};
  uri_.reset(::mongoc_uri_new_with_error(options.uri.c_str(), &error));
  if (!uri_) throw bad_uri(error);
  set_timeout(uri_.get(), options.connect_timeout);
  // Looks the hosts of a mongodb+srv URI up.
  client_.reset(::mongoc_client_new_from_uri_with_error(uri_.get(), &error));
  if (!client_) throw error.domain == MONGOC_ERROR_STREAM ? cannot_connect(error) : bad_uri(error);
  // Errors of the server are then marked as such, and no others.
  ::mongoc_client_set_error_api(client_.get(), MONGOC_ERROR_API_VERSION_2);
  ::mongoc_client_set_appname(client_.get(), "wattle");
  collection_.reset(::mongoc_client_get_collection(client_.get(), options.database.c_str(),
                                                   options.collection.c_str()));
  ping();
}

MongoConnection::~MongoConnection() {
  if (is_ours()) return;
  // Destroying them would say good-bye to the server in the other process's name.
  (void)collection_.release();
  (void)client_.release();
}

bool MongoConnection::is_ours() const noexcept { return ::getpid() == owner_; }

void MongoConnection::ping() const {
  const Bson command;
  ::bson_append_int32(command.get(), "ping", -1, 1);
  bson_error_t error{};
  if (::mongoc_client_command_simple(client_.get(), "admin", command.get(), nullptr, nullptr,
                                     &error)) {
    return;
  }
  throw cannot_connect(error);
}

DatabaseError MongoConnection::cannot_connect(const bson_error_t& error) const {
  const Failure why = failure(error);
  return {why.cause, "cannot connect: " + why.message};
}

std::optional<Failure> MongoConnection::insert(const bson_t* document) {
  bson_error_t error{};
  if (::mongoc_collection_insert_one(collection_.get(), document, nullptr, nullptr, &error) ||
      is_there_already(error)) {
    return std::nullopt;
  }
  return failure(error);
}

Failure MongoConnection::failure(const bson_error_t& error) const {
  const std::string text = text_of(error);
  const std::string hosts = hosts_of(uri_.get());
  if (error.domain == MONGOC_ERROR_SERVER_SELECTION || error.domain == MONGOC_ERROR_STREAM) {
    return {.cause = Cause::unreachable,
            .message =
                "no MongoDB server answers at " + hosts + ": " + text + "; see that it runs there"};
  }
  return {.cause = Cause::server,
          .message = "the MongoDB server at " + hosts + " refused: " + text};
}

}  // namespace wattle::mongodb
