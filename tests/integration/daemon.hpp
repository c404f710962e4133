// The daemon as its clients meet it: a process of its own, and real sockets.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "command.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {

/// An answer with a length.
struct HttpAnswer {
  int status = 0;  ///< 0: there was none
  std::string head;
  std::string body;
};

/// One connection to a daemon. A wait past `kDeadline` is a failure of the test.
class HttpClient {
 public:
  [[nodiscard]] static HttpClient at_file(const std::string& path);
  [[nodiscard]] static HttpClient at_port(std::uint16_t port);

  void send(std::string_view bytes) const;
  /// Has nothing more to say.
  void finish_sending() const;
  /// GET, in the words of the clients of zeusd. `headers`: whole lines.
  [[nodiscard]] HttpAnswer get(std::string_view target, std::string_view headers = {});
  [[nodiscard]] HttpAnswer ask(std::string_view method, std::string_view target,
                               std::string_view headers = {});
  /// `has_body`: false for the answer to a HEAD.
  [[nodiscard]] HttpAnswer read_answer(bool has_body = true);
  /// Up to the blank line.
  [[nodiscard]] std::string read_head();
  /// What one HTTP chunk holds; empty where the stream has ended.
  [[nodiscard]] std::string next_chunk();
  /// The next chunk that is no comment.
  [[nodiscard]] std::string next_event();
  /// Waits until the daemon has closed; what it said before.
  [[nodiscard]] std::string read_to_end();
  [[nodiscard]] bool has_ended();
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  explicit HttpClient(Fd fd) : fd_(std::move(fd)) {}
  /// False where nothing more comes.
  bool receive();
  [[nodiscard]] std::string take(std::size_t bytes);

  Fd fd_;
  std::string in_;
};

/// A test with devices of its own: two packages of which the first has a counter of its memory,
/// and two GPUs.
class DaemonTest : public CommandTest {
 protected:
  DaemonTest();

  /// Starts it and waits until it serves; at a Unix socket and a port unless `options` say else.
  void serve(const Words& options = {}, const std::string& nvml_script = kTwoGpus);
  /// `wattled WORDS`, in surroundings where it sees nothing of the machine.
  [[nodiscard]] Start wattled(const Words& words) const;

  /// Whether it can be connected to; its file is there a little earlier.
  [[nodiscard]] bool accepts() const;
  [[nodiscard]] HttpClient client() const { return HttpClient::at_file(socket()); }
  [[nodiscard]] HttpClient tcp_client() const { return HttpClient::at_port(port_); }
  [[nodiscard]] HttpAnswer get(std::string_view target, std::string_view headers = {}) const {
    return client().get(target, headers);
  }
  [[nodiscard]] HttpAnswer get_tcp(std::string_view target, std::string_view headers = {}) const {
    return tcp_client().get(target, headers);
  }
  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }
  [[nodiscard]] std::string log() const { return content_of(path("log")); }
  /// Whether the log says so by now or soon: lines are written in a thread of their own, and may
  /// come after the answer that they belong to.
  [[nodiscard]] testing::AssertionResult logs(const testing::Matcher<std::string>& said) const;
  /// Loads both packages and the memory with so many watts, in real time, until the test ends; or
  /// those zones alone.
  void play(double watts, const Words& zones = {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"});
  /// A file with a key, 0600.
  [[nodiscard]] std::string key_file(std::string_view key) const;
  [[nodiscard]] std::string token(std::string_view user, std::string_view scopes,
                                  std::string_view expires = "1h") const;

  static constexpr const char* kTwoGpus =
      "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\npci 0000:41:00\npower step 0 75\nlimit 200 300\n"
      "counter 500000\npersistence on\n"
      "gpu NVIDIA A40\nuuid GPU-bbbb\npci 0000:61:00\npower step 0 120\ncounter none\n";

  /// The gauge of an M40, which sees 14 of 31 ms.
  static constexpr const char* kPartialGauge =
      "gpu Tesla M40 24GB\nuuid GPU-a\ncounter none\ninstant none\naverage none\n"
      "power step 0 150\n";

  fakes::PowercapTree tree_;
  std::unique_ptr<fakes::FakeNvml> nvml_;
  std::unique_ptr<Process> daemon_;
  std::unique_ptr<Process> player_;
  std::string socket_;  ///< a test may choose another place
  std::uint16_t port_ = 0;
};

}  // namespace wattle::integration
