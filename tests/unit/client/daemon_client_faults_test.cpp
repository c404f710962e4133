// Daemons that refuse, lie, stall or are not there.
#include <gmock/gmock.h>

#include <atomic>

#include "fakes/temp_folder.hpp"
#include "unit/client/played_daemon.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle {
namespace {

using fakes::http_answer;
using fakes::HttpPeer;
using fakes::HttpRequest;
using fakes::HttpServer;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_client::message_of;

class DaemonClientFaults : public testing_client::PlayedDaemon {};

/// Serves a good /discover; `handler` answers everything else.
HttpServer::Handler after_discovery(HttpServer::Handler handler) {
  return [handler = std::move(handler)](const HttpRequest& request, HttpPeer& peer) {
    if (request.path() == "/discover") {
      peer.send(http_answer(200, R"({"gpus":[],"cpus":[]})"));
    } else {
      handler(request, peer);
    }
  };
}

std::string error_of(const HttpServer& server, milliseconds timeout = milliseconds(5000)) {
  return message_of<ConnectionError>(
      [&] { DaemonClient client(Server::parse(server.address()), timeout); });
}

TEST_F(DaemonClientFaults, NobodyThereIsAConnectionError) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "nobody.sock";
  EXPECT_THAT(message_of<ConnectionError>([&] { DaemonClient{Server::unix_socket(path)}; }),
              AllOf(HasSubstr("cannot find what is served: the daemon at " + path)));
  std::string gone;
  {
    const HttpServer server([](const HttpRequest&, HttpPeer&) {});
    gone = server.address();
  }
  EXPECT_THAT(message_of<ConnectionError>([&] { DaemonClient{Server::parse(gone)}; }),
              HasSubstr(gone));
  EXPECT_THROW(DaemonClient{Server::parse("no-such-host.invalid")}, ConnectionError);
}

TEST_F(DaemonClientFaults, WhoSendsTrailersWithoutEndIsCut) {
  const std::string lines = [] {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "X-Trailer: " + std::string(80, 'x') + "\r\n";
    return text;
  }();
  const HttpServer server([&](const HttpRequest&, HttpPeer& peer) {
    peer.send(fakes::http_stream_head() + "0\r\n");
    while (peer.send(lines)) {
    }
    peer.close();
  });
  EXPECT_THAT(error_of(server), HasSubstr("the head of its answer is longer than 64 KiB"));
}

TEST_F(DaemonClientFaults, WhoAnswersOtherwiseIsNoDaemon) {
  const std::pair<Answer, const char*> cases[] = {
      {{503, R"({"error":"busy"})"}, "busy (status 503)"},
      {{404, ""}, "it answers with status 404"},
      {{401, ""}, "it answers with status 401"},
      {{302, ""}, "it answers with status 302"},
      {{204, ""}, "it answers with status 204"},
      {{200, "<html>"}, "it is not JSON"},
      {{200, ""}, "it is not JSON"},
      {{200, "[1]"}, "it is not a JSON object"},
      {{200, "{}"}, "'gpu_ids' is missing"},
  };
  for (const auto& [told, expected] : cases) {
    answer("/discover", told);
    EXPECT_THAT(message_of<ConnectionError>([&] { DaemonClient{address()}; }), HasSubstr(expected));
  }
}

TEST_F(DaemonClientFaults, AStatusReportsWhichError) {
  DaemonClient client(address());
  const auto ask = [&] { (void)client.gpu_power(); };
  answer("/gpu/get_power", {401, R"({"error":"Token has expired."})"});
  EXPECT_THAT(message_of<AuthError>(ask),
              AllOf(HasSubstr("cannot read the power of GPUs"), HasSubstr(server_.address()),
                    HasSubstr("Token has expired. (status 401)")));
  answer("/gpu/get_power", {403, R"({"error":"Token for user 'u' lacks"})"});
  EXPECT_THAT(message_of<CapabilityError>(ask), HasSubstr("Token for user 'u' lacks"));
  answer("/gpu/get_power", {404, R"({"error":"API group 'gpu-read' is not enabled"})"});
  EXPECT_THAT(message_of<CapabilityError>(ask), HasSubstr("is not enabled"));
  answer("/gpu/get_power", {500, R"({"errors":{"0":"NVML error: lost"}})"});
  EXPECT_THAT(message_of<Error>(ask), HasSubstr("0: NVML error: lost (status 500)"));
  answer("/gpu/get_power", {204, ""});
  EXPECT_THAT(message_of<Error>(ask), HasSubstr("status 204"));
}

TEST_F(DaemonClientFaults, AnIndexThatIsNotServedIsNamedWithThoseThatAre) {
  answer("/gpu/get_power", {400, R"({"error":"GPU 5 not found"})"});
  answer("/gpu/set_power_limit", {400, "GPU index 5 does not exist."});
  answer("/cpu/get_power", {400, R"({"error":"CPU 7 not found"})"});
  DaemonClient client(address());
  EXPECT_THAT(message_of<NoSuchDevice>([&] {
                (void)client.gpu_power({0, 5});
              }),
              AllOf(HasSubstr("GPU 5 not found"), HasSubstr("(available: 0, 2)")));
  EXPECT_THAT(message_of<NoSuchDevice>([&] { client.set_power_limit({5}, Watts(1.0)); }),
              HasSubstr("GPU index 5 does not exist."));
  EXPECT_THAT(message_of<NoSuchDevice>([&] { (void)client.cpu_power({7}); }),
              HasSubstr("(available: 0, 1)"));
}

TEST_F(DaemonClientFaults, ARequestThatIsRefusedForAnotherReasonIsNoMissingDevice) {
  answer("/gpu/set_power_limit", {400, R"({"errors":{"0":"Invalid request: 5 mW"}})"});
  DaemonClient client(address());
  EXPECT_THROW(
      {
        try {
          client.set_power_limit({0}, Watts(5.0));
        } catch (const NoSuchDevice&) {
          ADD_FAILURE() << "GPU 0 is served";
        }
      },
      Error);
}

TEST_F(DaemonClientFaults, AnAnswerThatMakesNoSenseIsAConnectionError) {
  DaemonClient client(address());
  for (const char* body : {"", "null", R"({"timestamp_ms":"5"})", R"({"timestamp_ms":-5})"}) {
    answer("/time", {200, body});
    EXPECT_THAT(
        message_of<ConnectionError>([&] { (void)client.time(); }),
        AllOf(HasSubstr("cannot read its clock"), HasSubstr("unexpected reply from the daemon")));
  }
}

TEST_F(DaemonClientFaults, WhoSaysNothingIsWaitedForAsLongAsWasSaid) {
  const HttpServer server([](const HttpRequest&, HttpPeer& peer) { peer.stall(); });
  EXPECT_THAT(error_of(server, milliseconds(50)), HasSubstr("timed out"));
}

TEST_F(DaemonClientFaults, WhoSaysAByteAtATimeIsNotWaitedForLonger) {
  // 10 s of bytes: a timeout that began again with each of them would never be over.
  constexpr int kAll = 2000;
  std::atomic<int> sent{0};
  {
    const HttpServer server([&](const HttpRequest&, HttpPeer& peer) {
      (void)peer.send("HTTP/1.1 200 OK\r\nX-Long: ");
      while (sent < kAll && peer.send("H") && peer.wait(milliseconds(5))) ++sent;
    });
    EXPECT_THAT(error_of(server, milliseconds(100)), HasSubstr("timed out"));
  }
  EXPECT_LT(sent, kAll);
}

TEST_F(DaemonClientFaults, AnAnswerThatBreaksOffIsAConnectionError) {
  const std::string whole = http_answer(200, R"({"gpus":[],"cpus":[]})");
  for (const std::size_t length : {std::size_t{0}, std::size_t{9}, whole.size() - 1}) {
    const HttpServer server([&](const HttpRequest&, HttpPeer& peer) {
      peer.send(std::string_view(whole).substr(0, length));
      peer.close();
    });
    (void)error_of(server);
  }
}

TEST_F(DaemonClientFaults, AnEndlessAnswerIsCutOff) {
  const std::string piece(1U << 20U, ' ');
  std::size_t sent = 0;
  {
    const HttpServer server([&](const HttpRequest&, HttpPeer& peer) {
      peer.send(fakes::http_stream_head());
      for (; sent < 1024 && peer.send(fakes::http_chunk(piece)); ++sent) {
      }
      peer.close();
    });
    EXPECT_THAT(error_of(server), HasSubstr("longer than 1048576 bytes"));
  }
  EXPECT_LT(sent, 1024U) << "the client hung up";
}

TEST_F(DaemonClientFaults, AnAnswerThatSaysItIsTooLongIsNotRead) {
  const HttpServer server([](const HttpRequest&, HttpPeer& peer) {
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{");
    peer.stall();
  });
  EXPECT_THAT(error_of(server), HasSubstr("longer than 1048576 bytes"));
}

TEST_F(DaemonClientFaults, WhatIsNoHttpIsAConnectionError) {
  for (const char* bytes : {"SSH-2.0-OpenSSH_9.2\r\n", "\x16\x03\x01", "\r\n\r\n\r\n"}) {
    const HttpServer server([&](const HttpRequest&, HttpPeer& peer) {
      peer.send(bytes);
      peer.close();
    });
    (void)error_of(server);
  }
}

TEST_F(DaemonClientFaults, AConnectionThatTheDaemonClosedIsMadeAgain) {
  const HttpServer server(after_discovery([](const HttpRequest&, HttpPeer& peer) {
    peer.send(http_answer(200, R"({"timestamp_ms":1000})"));
    peer.close();
  }));
  DaemonClient client(Server::parse(server.address()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.time(), 1.0);
}

TEST_F(DaemonClientFaults, AfterAnErrorTheNextQuestionIsAskedAsIfNothingHadBeen) {
  std::atomic<int> asked = 0;
  const HttpServer server(after_discovery([&](const HttpRequest&, HttpPeer& peer) {
    if (++asked == 1) return peer.stall();
    peer.send(http_answer(200, R"({"timestamp_ms":1000})"));
  }));
  DaemonClient client(Server::parse(server.address()), milliseconds(300));
  EXPECT_THROW((void)client.time(), ConnectionError);
  EXPECT_EQ(client.time(), 1.0) << "and no late answer is taken for this one's";
}

TEST_F(DaemonClientFaults, WhatTheDaemonSaysCannotMoveACursor) {
  answer("/discover", {500, "\x1b[2J\r\nlooks like another line"});
  EXPECT_THAT(message_of<ConnectionError>([&] { DaemonClient{address()}; }),
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n"))));
}

TEST_F(DaemonClientFaults, ATokenThatWouldBeginAnotherLineIsRefusedBeforeAnythingIsSent) {
  EXPECT_THROW(DaemonClient{address_with("a\r\nX: y")}, InvalidArgument);
  EXPECT_EQ(server_.connections(), 0U);
}

TEST_F(DaemonClientFaults, ATimeoutIsAboveZero) {
  EXPECT_THROW(DaemonClient(address(), milliseconds(0)), InvalidArgument);
  EXPECT_THROW(DaemonClient(address(), milliseconds(-1)), InvalidArgument);
}

}  // namespace
}  // namespace wattle
