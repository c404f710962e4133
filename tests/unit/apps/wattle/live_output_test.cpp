#include "output/live_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>

#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// The two ends of what a line goes through. It holds less than `kLine`.
struct Ends {
  Fd read_end;
  Fd write_end;
};

constexpr std::size_t kLine = 1'000'000;

Ends pipe_of_a_page() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_GT(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

Ends socket_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

/// What waits to be read.
std::string taken(const Fd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  EXPECT_EQ(::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK), 0);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(fd.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

class LiveOutputTest : public testing::TestWithParam<Ends (*)()> {
 protected:
  LiveOutputTest() : ends_(GetParam()()), out_(std::move(ends_.write_end), "stdout") {
    (void)std::signal(SIGPIPE, SIG_IGN);
  }

  Ends ends_;
  LiveOutput out_;
};

TEST_P(LiveOutputTest, WritesALineForWhichThereIsRoom) {
  EXPECT_TRUE(out_.put("a line\n"));
  EXPECT_FALSE(out_.has_rest());
  EXPECT_EQ(taken(ends_.read_end), "a line\n");
}

TEST_P(LiveOutputTest, KeepsTheRestOfALineUntilThereIsRoom) {
  const std::string line = std::string(kLine, 'x') + "\n";
  EXPECT_TRUE(out_.put(line));
  EXPECT_TRUE(out_.has_rest());
  std::string all;
  while (out_.has_rest()) {
    all += taken(ends_.read_end);
    out_.flush();
  }
  all += taken(ends_.read_end);
  EXPECT_EQ(all, line);
}

TEST_P(LiveOutputTest, LeavesOutWhatWouldStandInTheMiddleOfALine) {
  EXPECT_TRUE(out_.put(std::string(kLine, 'x')));
  EXPECT_FALSE(out_.put("another"));
  EXPECT_EQ(taken(ends_.read_end).find('a'), std::string::npos);
}

TEST_P(LiveOutputTest, WritesNoEscapeSequencesButThoseThatMoveADrawnText) {
  EXPECT_TRUE(out_.put("gpu \x1b[2J\xc2\x9b\xe2\x80\xae 5 W\n"));
  EXPECT_EQ(taken(ends_.read_end), "gpu \\x1b[2J\\xc2\\x9b\\u{202e} 5 W\n");
  EXPECT_TRUE(out_.put("{\"name\":\"\x7f\"}\n"));
  EXPECT_EQ(taken(ends_.read_end), "{\"name\":\"\\u007f\"}\n");
  EXPECT_TRUE(out_.put(Redrawn{.movement = "\r\x1b[J", .text = "gpu \x1b[2J\n"}));
  EXPECT_EQ(taken(ends_.read_end), "\r\x1b[Jgpu \\x1b[2J\n");
}

TEST_P(LiveOutputTest, IsOverWhereNobodyReadsAnyMore) {
  ends_.read_end.reset();
  EXPECT_FALSE(out_.put("a line\n"));
  EXPECT_TRUE(out_.is_over());
}

INSTANTIATE_TEST_SUITE_P(Of, LiveOutputTest, testing::Values(pipe_of_a_page, socket_pair),
                         [](const auto& of) { return of.index == 0 ? "APipe" : "ASocket"; });

TEST(LiveOutput, FailsOnADiskThatIsFull) {
  LiveOutput out(Fd(::open("/dev/full", O_WRONLY | O_CLOEXEC)), "stdout");
  EXPECT_THROW(out.put("a line\n"), WriteError);
}

}  // namespace
}  // namespace wattle::app
