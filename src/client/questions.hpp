// One request to a daemon, and its answer or an exception.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/transport/curl_transport.hpp"
#include "client/transport/transport.hpp"
#include "wattle/daemon_client.hpp"
#include "wire/message_json.hpp"

namespace wattle::client {

/// Builds the query of a request. It has only names and numbers of our own, so only the comma
/// between ids is escaped, as in zeusd's client.
class QueryText {
 public:
  QueryText& gpus(const std::vector<std::uint32_t>& ids) { return list("gpu_ids", ids); }
  QueryText& cpus(const std::vector<std::uint32_t>& ids) { return list("cpu_ids", ids); }
  QueryText& flag(std::string_view name, bool value) { return add(name, value ? "true" : "false"); }
  QueryText& number(std::string_view name, std::uint32_t value) {
    return add(name, std::to_string(value));
  }
  /// "?a=b&c=d", or nothing.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  /// Without ids nothing is added: the request is for all devices.
  QueryText& list(std::string_view name, const std::vector<std::uint32_t>& ids);
  QueryText& add(std::string_view name, std::string_view value);

  std::string text_;
};

/// The daemon refuses a request as invalid (400): usually it names a missing device.
class BadRequest : public Error {
 public:
  using Error::Error;
};

/// Sends requests over one connection, which is kept, and waits for their answers. Throws as
/// `DaemonClient`. Not thread-safe.
class Questions {
 public:
  /// Throws `InvalidArgument` for an invalid token or timeout.
  Questions(Server server, std::chrono::milliseconds timeout);

  /// `operation` completes the error "cannot ...": "read its clock". `decode`: a function of
  /// wire/message_json.hpp.
  template <class Value>
  Value get(std::string_view operation, std::string_view path, const QueryText& query,
            wire::Decoded<Value> (*decode)(std::string_view)) {
    const std::string body = ask(operation, path, query, /*is_post=*/false);
    auto decoded = decode(body);
    if (auto* const bad = std::get_if<wire::Malformed>(&decoded)) {
      throw ConnectionError(cannot(operation) + "unexpected reply from the daemon: " + bad->why);
    }
    return std::get<Value>(std::move(decoded));
  }

  void post(std::string_view operation, std::string_view path, const QueryText& query) {
    (void)ask(operation, path, query, /*is_post=*/true);
  }

  [[nodiscard]] const Server& server() const noexcept { return server_.front(); }
  /// "the daemon at node7:4938".
  [[nodiscard]] std::string name() const;

 private:
  /// The body of a 200.
  [[nodiscard]] std::string ask(std::string_view operation, std::string_view path,
                                const QueryText& query, bool is_post);
  /// "cannot read its clock from the daemon at node7:4938: ".
  [[nodiscard]] std::string cannot(std::string_view operation) const;

  std::vector<Server> server_;  ///< one
  CurlTransport transport_;
  Inquiry inquiry_;
};

}  // namespace wattle::client
