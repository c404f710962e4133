// `wattle stream`, with daemons of the built program.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "daemon.hpp"
#include "pty.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kNothing = 2;

constexpr const char* kTwoGauges =
    "gpu Tesla M40 24GB\nuuid GPU-a\ncounter none\ninstant none\naverage none\n"
    "power step 0 150\n"
    "gpu Tesla M40 24GB\nuuid GPU-b\ncounter none\ninstant none\naverage none\n"
    "power step 0 100\n";

class StreamCommand : public DaemonTest {
 protected:
  [[nodiscard]] std::string at_file() const { return "unix:" + socket(); }
  [[nodiscard]] std::string at_port() const { return "127.0.0.1:" + std::to_string(port_); }
  /// `wattle stream WORDS`, whose lines come often.
  [[nodiscard]] static Start stream(const Words& words) {
    return wattle(Words{"stream", "--period", "0.05"} + words);
  }
  /// Ends it with Ctrl-C once it has printed `text`.
  [[nodiscard]] static Outcome end_after(const Start& start, std::string_view text,
                                         int signal = SIGINT) {
    Process process(start);
    EXPECT_TRUE(process.prints(text)) << text;
    process.send(signal);
    return process.wait();
  }
  [[nodiscard]] static std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(parse_json(line));
    return lines;
  }
};

TEST_F(StreamCommand, PrintsJsonLinesUntilCtrlCThenTheTotals) {
  serve();
  const Outcome outcome = end_after(stream({at_file()}), "\"power_w\":75.0");
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  const std::vector<Json> lines = lines_of(outcome.out);
  for (const Json& line : lines) EXPECT_EQ(line["schema"], "wattle.stream/1");
  const Json& total = lines.back();
  EXPECT_EQ(total["type"], "total");
  EXPECT_EQ(total["server"], socket());
  EXPECT_EQ(total["devices"][0]["domain"], "nvidia_gpu_0");
  EXPECT_TRUE(total["devices"][0]["energy_j"].is_number());
}

TEST_F(StreamCommand, FlagsGaugesOfUnknownCoverageInJson) {
  serve({}, kTwoGauges);
  const Outcome outcome = end_after(stream({"--energy", at_file()}), "coverage_unknown");
  const Json total = lines_of(outcome.out).back();
  EXPECT_EQ(total["type"], "total");
  EXPECT_THAT(total["devices"][0]["flags"], testing::Contains("coverage_unknown")) << total;
  EXPECT_GT(total["devices"][0]["uncertainty_w"], 0.0) << total;
}

TEST_F(StreamCommand, FollowsSeveralServersAtOnce) {
  serve();
  const Outcome outcome =
      end_after(stream({at_file(), at_port(), "--cpus", "none"}), "\"type\":\"reading\"", SIGTERM);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"server\":\"" + socket() + "\""),
                                 HasSubstr("\"server\":\"" + at_port() + "\"")));
}

TEST_F(StreamCommand, FollowsMoreServersThanTheUsualLimitOfDescriptorsLets) {
  serve();
  Words servers;
  for (int i = 0; i < 10; ++i) {
    const auto link = path("socket" + std::to_string(i));
    std::filesystem::create_symlink(socket(), link);
    servers.push_back("unix:" + link.string());
  }
  Start start = stream(servers);
  start.prepare = [] {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 12;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  };
  const Outcome outcome = end_after(start, "\"type\":\"reading\"");
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr(path("socket9").string()));
}

TEST_F(StreamCommand, ShowsTheDevicesThatWereChosen) {
  serve();
  const Outcome outcome =
      end_after(stream({at_file(), "--gpus", "1", "--cpus", "none"}), "\"power_w\":120.0");
  EXPECT_THAT(outcome.out, Not(HasSubstr("gpu_0")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("package_0")));
}

TEST_F(StreamCommand, AddsEnergiesWhereAskedFor) {
  serve();
  const Outcome outcome = end_after(stream({"--energy", at_file()}), "\"energy_j\":");
  EXPECT_THAT(outcome.out, HasSubstr("\"uncertainty_j\":"));
}

TEST_F(StreamCommand, GoesOnWithoutAServerThatIsNotThere) {
  serve();
  const std::string nowhere = path("nowhere.sock").string();
  const Outcome outcome = end_after(stream({at_file(), "unix:" + nowhere}), "\"power_w\":75.0");
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, StartsWith("wattle stream: cannot reach " + nowhere + ": " + nowhere +
                                      ": No such file or directory; start the daemon"));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1);
}

TEST_F(StreamCommand, EndsWhereNoServerIsThere) {
  Process process(stream({"unix:" + path("nowhere.sock").string()}));
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), kNothing);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("nowhere.sock: "),
                                 HasSubstr("nothing to follow: no server is available\n")));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << "the reason once, and the end";
}

TEST_F(StreamCommand, EndsAtCtrlCThoughAServerHasNotAnsweredYet) {
  const std::string silent = path("silent.sock").string();
  const Fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(silent.size(), sizeof address.sun_path);
  silent.copy(address.sun_path, silent.size());
  const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  ASSERT_EQ(::bind(listening.get(), generic, sizeof address), 0);
  ASSERT_EQ(::listen(listening.get(), 1), 0);
  Process process(stream({"unix:" + silent}));
  const Fd connection(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(connection);
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(outcome.err, "wattle stream: stopped before the servers answered\n");
}

TEST_F(StreamCommand, EndsWhereAChosenDeviceIsNotThere) {
  serve();
  const Outcome outcome = Process(stream({at_file(), "--gpus", "7"})).wait();
  EXPECT_EQ(outcome.code(), kNothing);
  EXPECT_THAT(outcome.err, HasSubstr("7"));
}

TEST_F(StreamCommand, TakesItsTokenFromAFile) {
  serve({"--signing-key-path", key_file(std::string(32, 'k'))});
  folder_.write("token", token("alice", "gpu-read,cpu-read") + "\n");
  const Outcome outcome =
      end_after(stream({at_file(), "--token-file", path("token").string()}), "\"power_w\":75.0");
  EXPECT_EQ(outcome.code(), 0);
}

TEST_F(StreamCommand, SaysWhatATokenLacks) {
  serve({"--signing-key-path", key_file(std::string(32, 'k'))});
  folder_.write("token", token("alice", "gpu-read"));
  const Start start = stream({at_file(), "--token-file", path("token").string()});
  const Outcome outcome = end_after(start, "\"power_w\":75.0");
  EXPECT_THAT(outcome.out, Not(HasSubstr("package_0")));
}

TEST_F(StreamCommand, SaysThatATokenIsWanted) {
  serve({"--signing-key-path", key_file(std::string(32, 'k'))});
  const Outcome outcome = Process(stream({at_file()})).wait();
  EXPECT_EQ(outcome.code(), kNothing);
  EXPECT_THAT(outcome.err, HasSubstr(socket()));
}

TEST_F(StreamCommand, WrongOptionsAreNamed) {
  const Outcome outcome = Process(stream({"--token", "secret"})).wait();
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("wattle stream: "), HasSubstr("--token"),
                                 HasSubstr("Try: wattle stream --help")));
}

TEST_F(StreamCommand, NamesAServerThatIsGivenTwice) {
  serve();
  const Outcome outcome = Process(stream({at_file(), at_file()})).wait();
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, HasSubstr(socket()));
}

TEST_F(StreamCommand, FollowsADaemonThatIsRestarted) {
  serve();
  Process process(stream({at_file(), "--cpus", "none"}));
  ASSERT_TRUE(process.prints("\"power_w\":75.0"));
  daemon_->send(SIGKILL);
  (void)daemon_->wait();
  ASSERT_TRUE(process.prints("\"status\":\"connecting\""));
  serve({}, "gpu A\npower step 0 33\n");
  EXPECT_TRUE(process.prints("\"power_w\":33.0"));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, HasSubstr("gpus: connecting"));
  const Json total = lines_of(outcome.out).back();
  EXPECT_GT(total["devices"][0]["unknown_s"], 0.0);
}

TEST_F(StreamCommand, EndsQuietlyWhenItsReaderIsGone) {
  serve();
  Process process(stream({at_file()}));
  ASSERT_TRUE(process.prints("reading"));
  process.close_output();
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(StreamCommand, FailsOnAFullDisk) {
  serve();
  Start start = stream({at_file()});
  start.prepare = [] {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(full, STDOUT_FILENO);
  };
  const Outcome outcome = Process(start).wait();
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
}

TEST_F(StreamCommand, KeepsATableUpToDateOnATerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  serve();
  Pty terminal;
  Start start = stream({at_file(), "--energy"});
  start.prepare = [&] { terminal.become_terminal(); };
  Process process(start);
  EXPECT_TRUE(terminal.shows("nvidia_gpu_0     75.00 W"));
  EXPECT_TRUE(terminal.shows("\x1b[J"));
  terminal.type("\x03");  // Ctrl-C
  EXPECT_TRUE(terminal.shows("± is the sampling error only"));
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(StreamCommand, FlagsTotalsOfGaugesOfUnknownCoverage) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  serve({}, kTwoGauges);
  Pty terminal;
  Start start = stream({at_file(), "--energy"});
  start.environment["TERM"] = "dumb";
  start.prepare = [&] { terminal.become_terminal(); };
  Process process(start);
  EXPECT_TRUE(terminal.shows("coverage_unknown"));
  terminal.type("\x03");  // Ctrl-C
  const std::string text = terminal.text_to_the_end();
  EXPECT_EQ(process.wait().code(), 0);
  EXPECT_THAT(text, HasSubstr("± is the sampling error only"));
  EXPECT_THAT(text.substr(text.rfind("total")), HasSubstr("coverage_unknown")) << text;
}

TEST_F(StreamCommand, SendsNoEscapeSequencesToADumbTerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  serve();
  Pty terminal;
  Start start = stream({at_file()});
  start.environment["TERM"] = "dumb";
  start.prepare = [&] { terminal.become_terminal(); };
  Process process(start);
  EXPECT_TRUE(terminal.shows("nvidia_gpu_0     75.00 W"));
  EXPECT_TRUE(terminal.shows("\r\n\r\nserver"));
  terminal.type("\x03");  // Ctrl-C
  EXPECT_EQ(process.wait().code(), 0);
  EXPECT_THAT(terminal.text(), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace wattle::integration
