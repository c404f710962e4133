#include "serve/log_queue.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <sstream>
#include <string>

#include "base/files/fd.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string loss_line(std::uint64_t lost) { return std::to_string(lost) + " lost\n"; }

/// A queue to a pipe.
class Queue : public testing::Test {
 protected:
  Queue() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read_end_ = Fd(ends[0]);
    write_end_ = Fd(ends[1]);
    ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
    queue_ = std::make_unique<LogQueue>(write_end_.get(), loss_line);
  }
  /// What has come by now.
  [[nodiscard]] std::string read() const {
    std::string text;
    std::array<char, 4096> room{};
    ssize_t count = 0;
    while ((count = ::read(read_end_.get(), room.data(), room.size())) > 0) {
      text.append(room.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  /// Reads on until everything was written.
  [[nodiscard]] std::string read_all() const {
    std::string text;
    while (!queue_->flush(milliseconds(1))) text += read();
    return text + read();
  }

  Fd read_end_;
  Fd write_end_;
  std::unique_ptr<LogQueue> queue_;
};

TEST_F(Queue, WritesItsLinesInOrder) {
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string line = std::to_string(i) + "\n";
    queue_->push(line);
    all += line;
  }
  EXPECT_TRUE(queue_->flush(seconds(60)));
  EXPECT_EQ(read(), all);
}

TEST_F(Queue, WaitsForNobodyWhoDoesNotReadAndReportsWhatWasLost) {
  const std::string line = std::string(999, 'x') + "\n";
  constexpr std::size_t kLines = 2000;  // more than the queue and the pipe hold
  for (std::size_t i = 0; i < kLines; ++i) queue_->push(line);
  EXPECT_FALSE(queue_->flush(milliseconds(0)));
  std::istringstream text(read_all());
  std::size_t written = 0;
  std::size_t lost = 0;
  for (std::string got; std::getline(text, got);) {
    if (got + "\n" == line) {
      ++written;
    } else {
      ASSERT_THAT(got, testing::EndsWith(" lost"));
      lost += std::stoul(got);
    }
  }
  EXPECT_EQ(written + lost, kLines);
  EXPECT_GT(lost, kLines / 2);
  EXPECT_GE((written + 1) * line.size(), LogQueue::kMostBytes);
}

TEST_F(Queue, CountsWhatWasWrittenToNobody) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  read_end_.reset();
  queue_->push("a\n");
  EXPECT_TRUE(queue_->flush(seconds(60)));
  ::signal(SIGPIPE, before);
}

TEST_F(Queue, IsDestroyedWhileItsThreadIsStuck) {
  for (int i = 0; i < 200; ++i) queue_->push(std::string(1000, 'x'));
  pollfd written{.fd = read_end_.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&written, 1, 60'000), 1) << "its thread has started to write";
  EXPECT_FALSE(queue_->flush(milliseconds(0))) << "and waits for a reader";
  queue_.reset();
  // Nobody has read before that; the thread may end now.
  EXPECT_THAT(read(), testing::StartsWith(std::string(1000, 'x')));
}

}  // namespace
}  // namespace wattle::daemon
