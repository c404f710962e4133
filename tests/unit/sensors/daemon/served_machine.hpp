// A daemon's socket that a test answers at.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "fakes/http_server.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/system.hpp"

namespace wattle::testing_daemon {

[[nodiscard]] inline std::string counters(std::uint64_t cpu_uj, const std::string& dram_uj = "null",
                                          std::optional<std::uint64_t> since_ms = 1000) {
  return R"({"0":{"cpu_energy_uj":)" + std::to_string(cpu_uj) + R"(,"dram_energy_uj":)" + dram_uj +
         (since_ms ? R"(,"since_ms":)" + std::to_string(*since_ms) : "") + "}}";
}

/// A test with a place for a socket, at which it serves what it likes.
class ServedMachine : public testing::Test {
 protected:
  /// Answers from now on with what `tell` set, until it stops or serves otherwise.
  void serve() {
    serve([this](const fakes::HttpRequest&, fakes::HttpPeer& peer) {
      std::string answer;
      {
        const std::lock_guard lock(mutex_);
        answer = answer_;
      }
      peer.send(answer);
    });
  }
  void serve(fakes::HttpServer::Handler handler) {
    stop();
    server_ = std::make_unique<fakes::HttpServer>(std::move(handler), path());
  }
  void stop() { server_.reset(); }
  void tell(const std::string& body, int status = 200, const std::string& fields = "") {
    const std::lock_guard lock(mutex_);
    answer_ = fakes::http_answer(status, body, fields);
  }

  [[nodiscard]] std::string path() const { return (folder_.path() / "wattled.sock").string(); }
  [[nodiscard]] System system() const {
    System system;
    system.daemon_socket = path();
    return system;
  }

  fakes::TempFolder folder_;
  std::unique_ptr<fakes::HttpServer> server_;

 private:
  std::mutex mutex_;
  std::string answer_ = fakes::http_answer(200, counters(5));
};

}  // namespace wattle::testing_daemon
