#include "fakes/mongo_server.hpp"

#include <arpa/inet.h>
#include <bson/bson.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

namespace wattle::fakes {
namespace {

constexpr std::int32_t kOpReply = 1;
constexpr std::int32_t kOpQuery = 2004;
constexpr std::int32_t kOpMsg = 2013;
constexpr std::size_t kHeaderBytes = 16;

/// All numbers of the protocol are little-endian, as are the machines that this is tested on.
template <class Integer>
Integer take(std::string_view& from) {
  Integer value{};
  if (from.size() < sizeof value) throw std::runtime_error("a message is too short");
  std::memcpy(&value, from.data(), sizeof value);
  from.remove_prefix(sizeof value);
  return value;
}

std::string_view take_c_string(std::string_view& from) {
  const std::string_view text = from.substr(0, from.find('\0'));
  from.remove_prefix(std::min(text.size() + 1, from.size()));
  return text;
}

std::string take_document(std::string_view& from) {
  std::string_view ahead = from;
  const auto size = static_cast<std::size_t>(take<std::int32_t>(ahead));
  if (size > from.size()) throw std::runtime_error("a document is too short");
  std::string document(from.substr(0, size));
  from.remove_prefix(size);
  return document;
}

template <class Integer>
void append(std::string& to, Integer value) {
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  to.append(bytes.data(), bytes.size());
}

/// A view of a document as libbson has it.
class View {
 public:
  explicit View(const std::string& bytes) {
    // BSON is bytes to libbson.
    if (!::bson_init_static(&bson_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                            bytes.size())) {
      throw std::runtime_error("a document is damaged");
    }
  }
  [[nodiscard]] const bson_t* get() const noexcept { return &bson_; }
  [[nodiscard]] std::string first_key() const {
    bson_iter_t at;
    return ::bson_iter_init(&at, &bson_) && ::bson_iter_next(&at) ? ::bson_iter_key(&at) : "";
  }
  [[nodiscard]] std::string text(const std::string& key) const {
    bson_iter_t at;
    const bool found = ::bson_iter_init_find(&at, &bson_, key.c_str());
    return found && BSON_ITER_HOLDS_UTF8(&at) ? ::bson_iter_utf8(&at, nullptr) : "";
  }
  [[nodiscard]] std::string object_id() const {
    bson_iter_t at;
    std::array<char, 25> hex{};
    if (::bson_iter_init_find(&at, &bson_, "_id")) {
      ::bson_oid_to_string(::bson_iter_oid(&at), hex.data());
    }
    return hex.data();
  }

 private:
  bson_t bson_{};
};

std::string bytes_of(const bson_t& bson) {
  return {reinterpret_cast<const char*>(::bson_get_data(&bson)), bson.len};
}

std::string from_json(const std::string& json) {
  bson_t bson;
  bson_error_t error;
  if (!::bson_init_from_json(&bson, json.c_str(), -1, &error)) {
    throw std::runtime_error(static_cast<const char*>(error.message));
  }
  std::string bytes = bytes_of(bson);
  ::bson_destroy(&bson);
  return bytes;
}

/// A server of its own (no replica set) of version 5.0.
constexpr const char* kHello = R"({"isWritablePrimary": true, "ismaster": true, "helloOk": true,
    "maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000,
    "minWireVersion": 0, "maxWireVersion": 13, "readOnly": false, "ok": 1.0})";

std::string write_error(int code, const std::string& text) {
  return from_json(R"({"n": 0, "ok": 1.0, "writeErrors": [{"index": 0, "code": )" +
                   std::to_string(code) + R"(, "errmsg": ")" + text + "\"}]}");
}

std::string command_error(int code, const std::string& text) {
  return from_json(R"({"ok": 0.0, "code": )" + std::to_string(code) + R"(, "errmsg": ")" + text +
                   "\"}");
}

bool read_all(int fd, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

MongoServer::MongoServer()
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // as sockets are used in C
  if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    throw std::runtime_error("no loopback port for the MongoDB server");
  }
  port_ = ::ntohs(address.sin_port);
  thread_ = std::jthread([this] { serve(); });
}

MongoServer::~MongoServer() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
}

std::string MongoServer::uri() const { return "mongodb://127.0.0.1:" + std::to_string(port_); }

void MongoServer::answer_inserts(std::deque<Answer> answers) {
  const std::lock_guard lock(mutex_);
  answers_ = std::move(answers);
}

std::size_t MongoServer::inserts() const {
  const std::lock_guard lock(mutex_);
  return inserts_;
}

void MongoServer::serve() {
  std::vector<Fd> clients;
  while (true) {
    std::vector<pollfd> waiting = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const Fd& client : clients) waiting.push_back({client.get(), POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) return;
    for (std::size_t i = clients.size(); i-- > 0;) {
      if (waiting[i + 2].revents == 0 || serve_one(clients[i].get())) continue;
      clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waiting[1].revents != 0) {
      clients.emplace_back(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    }
  }
}

/// One message and its answer; false where the connection is at its end.
bool MongoServer::serve_one(int client) {
  std::string message(kHeaderBytes, '\0');
  if (!read_all(client, message)) return false;
  std::string_view size_field = message;
  const auto size = static_cast<std::size_t>(take<std::int32_t>(size_field));
  message.resize(size);
  if (!read_all(client, std::span(message).subspan(kHeaderBytes))) return false;

  const Request request = parse(message);
  const std::string document = answer(request);
  if (document.empty()) return false;
  std::string body;
  if (request.legacy) {
    append(body, std::int32_t{8});  // flags: AwaitCapable
    append(body, std::int64_t{0});  // cursor
    append(body, std::int32_t{0});  // from the first
    append(body, std::int32_t{1});  // one document
  } else {
    append(body, std::int32_t{0});  // flags
    body += '\0';                   // section of one document
  }
  body += document;
  std::string reply;
  append(reply, static_cast<std::int32_t>(kHeaderBytes + body.size()));
  append(reply, std::int32_t{1});
  append(reply, request.id);
  append(reply, request.legacy ? kOpReply : kOpMsg);
  reply += body;
  return write_all(client, reply) == 0;
}

MongoServer::Request MongoServer::parse(std::string_view message) {
  Request request;
  (void)take<std::int32_t>(message);  // size
  request.id = take<std::int32_t>(message);
  (void)take<std::int32_t>(message);  // answers to nothing
  const auto operation = take<std::int32_t>(message);
  (void)take<std::uint32_t>(message);  // flags
  if (operation == kOpQuery) {
    request.legacy = true;
    (void)take_c_string(message);       // collection
    (void)take<std::int64_t>(message);  // how many to skip, how many to return
    request.command = take_document(message);
    return request;
  }
  if (operation != kOpMsg) throw std::runtime_error("an operation that no client uses any more");
  while (!message.empty()) {
    const auto kind = take<char>(message);
    if (kind == 0) {
      request.command = take_document(message);
      continue;
    }
    // A sequence of documents, named "documents".
    std::string_view ahead = message;
    const auto size = static_cast<std::size_t>(take<std::int32_t>(ahead));
    std::string_view sequence = message.substr(0, size);
    message.remove_prefix(size);
    (void)take<std::int32_t>(sequence);
    (void)take_c_string(sequence);
    while (!sequence.empty()) request.documents.push_back(take_document(sequence));
  }
  return request;
}

std::string MongoServer::answer(const Request& request) {
  const std::lock_guard lock(mutex_);
  const View command(request.command);
  const std::string name = command.first_key();
  const std::string collection = command.text("$db") + "." + command.text(name);
  if (name == "hello" || name == "isMaster" || name == "ismaster") return from_json(kHello);
  if (name == "ping" || name == "endSessions") return from_json(R"({"ok": 1.0})");
  if (name == "insert") return insert(collection, request);
  if (name == "find") return find(collection);
  if (name == "saslStart") return command_error(18, "Authentication failed.");
  return command_error(59, "no such command: " + name);
}

std::string MongoServer::insert(const std::string& collection, const Request& request) {
  ++inserts_;
  Answer answer = Answer::inserted;
  if (!answers_.empty()) {
    answer = answers_.front();
    answers_.pop_front();
  }
  switch (answer) {
    case Answer::hang_up_before:
      return {};
    case Answer::document_refused:
      return write_error(121, "Document failed validation");
    case Answer::command_refused:
      return command_error(13, "not authorized on test to execute command");
    case Answer::another_key_is_taken:
      return write_error(
          11000, "E11000 duplicate key error collection: " + collection +
                     R"( index: name_1 dup key: { name: 'a name with index: _id_ in it' })");
    case Answer::inserted:
    case Answer::not_replicated:
    case Answer::hang_up_after:
      break;
  }
  for (const std::string& document : request.documents) {
    const std::string id = View(document).object_id();
    if (std::ranges::any_of(stored_, [&](const Stored& other) {
          return other.collection == collection && View(other.bytes).object_id() == id;
        })) {
      return write_error(11000, "E11000 duplicate key error collection: " + collection +
                                    " index: _id_ dup key: { _id: ObjectId('" + id + "') }");
    }
    stored_.push_back({.collection = collection, .bytes = document});
  }
  if (answer == Answer::hang_up_after) return {};
  const std::string count = R"({"ok": 1.0, "n": )" + std::to_string(request.documents.size());
  if (answer == Answer::not_replicated) {
    return from_json(count + R"(, "writeConcernError": {"code": 64, "errmsg": "timed out"}})");
  }
  return from_json(count + "}");
}

/// All of the collection, whatever is asked for.
std::string MongoServer::find(const std::string& collection) const {
  bson_t reply;
  bson_t cursor;
  bson_t batch;
  ::bson_init(&reply);
  ::bson_append_document_begin(&reply, "cursor", -1, &cursor);
  ::bson_append_int64(&cursor, "id", -1, 0);
  ::bson_append_utf8(&cursor, "ns", -1, collection.c_str(), -1);
  ::bson_append_array_begin(&cursor, "firstBatch", -1, &batch);
  int index = 0;
  for (const Stored& stored : stored_) {
    if (stored.collection != collection) continue;
    ::bson_append_document(&batch, std::to_string(index++).c_str(), -1, View(stored.bytes).get());
  }
  ::bson_append_array_end(&cursor, &batch);
  ::bson_append_document_end(&reply, &cursor);
  ::bson_append_double(&reply, "ok", -1, 1.0);
  std::string bytes = bytes_of(reply);
  ::bson_destroy(&reply);
  return bytes;
}

}  // namespace wattle::fakes
