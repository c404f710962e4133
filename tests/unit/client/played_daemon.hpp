// A daemon that a test plays: one answer for each path, and every request remembered.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "fakes/http_server.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle::testing_client {

/// A test with a daemon of two GPUs and two CPUs, the second of which has no counter of its memory.
class PlayedDaemon : public testing::Test {
 protected:
  struct Answer {
    int status = 200;
    std::string body{};
  };

  PlayedDaemon() : server_([this](const auto& request, auto& peer) { play(request, peer); }) {}

  [[nodiscard]] static std::string discovery(
      const std::string& groups = R"("gpu-read","cpu-read","gpu-control")", bool auth = false) {
    return R"({"gpus":[{"id":0,"name":"A","pci_address":"0000:01:00.0",)"
           R"("cumulative_energy_available":true},{"id":2,"name":"B","pci_address":"0000:41:00.0",)"
           R"("cumulative_energy_available":false}],"cpus":[{"id":0,"dram_available":true},)"
           R"({"id":1,"dram_available":false}],"enabled_api_groups":[)" +
           groups + R"(],"auth_required":)" + (auth ? "true" : "false") + "}";
  }

  [[nodiscard]] Server address() const { return Server::parse(server_.address()); }
  [[nodiscard]] Server address_with(const std::string& token) const {
    Server server = address();
    server.token = token;
    return server;
  }
  /// What the last request was: "GET /time".
  [[nodiscard]] std::string last_request() const {
    const auto requests = server_.requests();
    return requests.empty() ? "" : requests.back().method + " " + requests.back().target;
  }

  /// Sets the answer for `path`. Other paths are 404.
  void answer(const std::string& path, Answer told) {
    const std::lock_guard lock(mutex_);
    answers_[path] = std::move(told);
  }

 private:
  void play(const fakes::HttpRequest& request, fakes::HttpPeer& peer) {
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(request.path());
    const Answer told = found == answers_.end() ? Answer{404, ""} : found->second;
    peer.send(fakes::http_answer(told.status, told.body));
  }

  std::mutex mutex_;
  std::map<std::string, Answer, std::less<>> answers_ = {{"/discover", {200, discovery()}}};

 protected:
  fakes::HttpServer server_;  // the first to go
};

/// The message of the error that `act` throws; fails the test if it throws none.
template <class Error, class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace wattle::testing_client
