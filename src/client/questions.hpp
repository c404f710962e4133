// One question to a daemon, and its answer or the error that says why there is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/curl_request.hpp"
#include "wattle/daemon_client.hpp"
#include "wire/decode.hpp"

namespace wattle::client {

/// What stands behind the "?" of a request. Only names and numbers of our own: nothing in it needs
/// to be escaped but the comma between ids, which zeusd's own client escapes.
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
  /// Without ids nothing is added: all are meant.
  QueryText& list(std::string_view name, const std::vector<std::uint32_t>& ids);
  QueryText& add(std::string_view name, std::string_view value);

  std::string text_;
};

/// The daemon does not understand a request (400): mostly since it names a device that is not
/// there.
class BadRequest : public Error {
 public:
  using Error::Error;
};

/// Asks over one connection, which is kept; see `DaemonClient` for what is thrown.
/// Threads: one at a time.
class Questions {
 public:
  /// Throws `InvalidArgument` for a token or a timeout that cannot be.
  Questions(Server server, std::chrono::milliseconds timeout);

  /// `operation` goes on from "cannot": "read its clock". `decode`: one of wire/decode.hpp.
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

  [[nodiscard]] const Server& server() const noexcept { return server_; }
  /// "the daemon at node7:4938".
  [[nodiscard]] std::string name() const;

 private:
  /// The body of a 200.
  [[nodiscard]] std::string ask(std::string_view operation, std::string_view path,
                                const QueryText& query, bool is_post);
  /// "cannot read its clock from the daemon at node7:4938: ".
  [[nodiscard]] std::string cannot(std::string_view operation) const;

  Server server_;
  std::chrono::milliseconds timeout_;
  Lines lines_;
  Easy easy_;
};

}  // namespace wattle::client
