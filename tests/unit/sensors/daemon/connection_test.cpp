#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "sensors/daemon/daemon_sensor.hpp"
#include "unit/sensors/daemon/served_machine.hpp"

namespace wattle::daemon_source {
namespace {

using fakes::HttpPeer;
using fakes::HttpRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr seconds kLong{20};  // ends nothing by itself

class DaemonConnectionTest : public testing_daemon::ServedMachine {
 protected:
  [[nodiscard]] DaemonConnection connection(const std::string& token = "") const {
    return {path(), question(token).value(), machine_clock()};
  }
};

TEST_F(DaemonConnectionTest, AsksForAllCountersAndGivesTheAnswer) {
  serve();
  tell("hello", 404);
  DaemonConnection connection = this->connection();
  const Reply exchange = connection.ask(kLong);
  EXPECT_EQ(exchange.outcome, RequestOutcome::answered);
  EXPECT_EQ(exchange.status, 404U);
  EXPECT_EQ(exchange.body, "hello");
  EXPECT_LE(exchange.before, exchange.after);
  const auto requests = server_->requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method, "GET");
  EXPECT_EQ(requests[0].target, "/cpu/get_cumulative_energy?cpu=true&dram=true");
  EXPECT_EQ(requests[0].field("Host"), "localhost");
  EXPECT_THAT(requests[0].head, Not(HasSubstr("Authorization")));
}

TEST_F(DaemonConnectionTest, ShowsTheToken) {
  serve();
  DaemonConnection connection = this->connection("aaa.bbb");
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
  EXPECT_EQ(server_->requests().at(0).field("Authorization"), "Bearer aaa.bbb");
}

TEST_F(DaemonConnectionTest, ATokenThatWouldBeginAnotherLineMakesNoQuestion) {
  for (const char* token : {"a\r\nX: y", "a b", "a\n", "\xC3\xA9", "\x7F"}) {
    EXPECT_FALSE(question(token)) << token;
  }
}

TEST_F(DaemonConnectionTest, IsKept) {
  serve();
  DaemonConnection connection = this->connection();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(DaemonConnectionTest, ThatTheDaemonClosedIsMadeAgainWithinTheQuestion) {
  serve([](const HttpRequest&, HttpPeer& peer) {
    peer.send(fakes::http_answer(200, "x"));
    peer.close();
  });
  DaemonConnection connection = this->connection();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
}

TEST_F(DaemonConnectionTest, ThatTheDaemonSaysItClosesIsNotAskedAgain) {
  serve();
  tell("x", 200, "Connection: close\r\n");
  DaemonConnection connection = this->connection();
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
  EXPECT_EQ(server_->connections(), 2U);
}

TEST_F(DaemonConnectionTest, GoesOnWithADaemonThatCameBack) {
  serve();
  DaemonConnection connection = this->connection();
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
  stop();
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::absent);
  serve();
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
}

TEST_F(DaemonConnectionTest, ReportsWhyThereIsNone) {
  DaemonConnection connection = this->connection();
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::absent);
  serve();
  const std::string copy = path() + ".old";
  std::filesystem::rename(path(), copy);
  stop();  // leaves the renamed socket, at which nobody listens
  DaemonConnection to_copy(copy, question("").value(), machine_clock());
  EXPECT_EQ(to_copy.ask(kLong).outcome, RequestOutcome::deserted);
  DaemonConnection to_folder(folder_.path().string(), question("").value(), machine_clock());
  EXPECT_NE(to_folder.ask(kLong).outcome, RequestOutcome::answered);
}

TEST_F(DaemonConnectionTest, WhoSaysNothingIsNotWaitedForForLong) {
  serve([](const HttpRequest&, HttpPeer& peer) { peer.stall(); });
  DaemonConnection connection = this->connection();
  EXPECT_EQ(connection.ask(milliseconds(20)).outcome, RequestOutcome::silent);
}

TEST_F(DaemonConnectionTest, WhoSaysAByteAtATimeIsNotWaitedForLonger) {
  serve([](const HttpRequest&, HttpPeer& peer) {
    std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
    for (; !answer.empty() && peer.send(answer.substr(0, 1)); answer.remove_prefix(1)) {
    }
    while (peer.send(" ") && peer.wait(milliseconds(5))) {
    }
  });
  DaemonConnection connection = this->connection();
  EXPECT_EQ(connection.ask(milliseconds(100)).outcome, RequestOutcome::silent);
}

TEST_F(DaemonConnectionTest, AnAnswerMayComeInPieces) {
  serve([](const HttpRequest&, HttpPeer& peer) {
    const std::string answer = fakes::http_answer(200, "hello");
    for (const char c : answer) peer.send({&c, 1});
  });
  DaemonConnection connection = this->connection();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(connection.ask(kLong).body, "hello");
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(DaemonConnectionTest, ALateAnswerIsNotTakenForTheNextQuestions) {
  std::atomic<int> asked = 0;
  std::atomic<bool> go_on = false;
  serve([&](const HttpRequest&, HttpPeer& peer) {
    if (++asked == 1) {
      while (!go_on && peer.wait(milliseconds(1))) {
      }
      peer.send(fakes::http_answer(200, "late"));
      return;
    }
    peer.send(fakes::http_answer(200, "fresh"));
  });
  DaemonConnection connection = this->connection();
  EXPECT_EQ(connection.ask(milliseconds(20)).outcome, RequestOutcome::silent);
  go_on = true;
  EXPECT_EQ(connection.ask(kLong).body, "fresh");
}

TEST_F(DaemonConnectionTest, BytesAfterAnAnswerAreNotTakenForTheNext) {
  serve([](const HttpRequest&, HttpPeer& peer) {
    peer.send(fakes::http_answer(200, "one") + fakes::http_answer(200, "two"));
  });
  DaemonConnection connection = this->connection();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(connection.ask(kLong).body, "one");
}

TEST_F(DaemonConnectionTest, WhatIsNoAnswerOrTooLongIsGarbled) {
  const std::vector<std::string> answers = {"SSH-2.0-x\r\n", std::string(100'000, 'x'),
                                            fakes::http_stream_head(),
                                            "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x'),
                                            fakes::http_answer(200, std::string(100'000, ' '))};
  for (const std::string& answer : answers) {
    // Of its own: it may still be sending when the test is over.
    serve([answer](const HttpRequest&, HttpPeer& peer) { peer.send(answer); });
    DaemonConnection connection = this->connection();
    EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::garbled) << answer.substr(0, 20);
  }
}

TEST_F(DaemonConnectionTest, AnAnswerThatBreaksOffIsNone) {
  serve([](const HttpRequest&, HttpPeer& peer) {
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
    peer.close();
  });
  DaemonConnection connection = this->connection();
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::hung_up);
}

TEST_F(DaemonConnectionTest, AChildMakesOneOfItsOwn) {
  serve();
  DaemonConnection connection = this->connection();
  ASSERT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered);
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(connection.ask(kLong).outcome == RequestOutcome::answered ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(server_->connections(), 2U);
  EXPECT_EQ(connection.ask(kLong).outcome, RequestOutcome::answered) << "ours is as it was";
  EXPECT_EQ(server_->connections(), 2U);
}

}  // namespace
}  // namespace wattle::daemon_source
