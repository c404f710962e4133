#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/files/fd.hpp"
#include "output/screen.hpp"

namespace wattle::app {
namespace {

using namespace std::chrono_literals;

struct ProgressPipe {
  Fd read_end;
  Fd write_end;

  ProgressPipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    read_end = Fd(ends[0]);
    write_end = Fd(ends[1]);
  }
  [[nodiscard]] std::string text() const {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(read_end.get(), buffer.data(), buffer.size());
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }
};

TEST(Progress, IsOneLineWhereThereIsNoTerminal) {
  const ProgressPipe pipe;
  {
    Progress progress("wattle sensors", pipe.write_end.get());
    progress.show("measuring, about 6 s left");
    progress.show("measuring, about 5 s left");
  }
  EXPECT_EQ(pipe.text(), "wattle sensors: measuring, about 6 s left\n");
}

TEST(Progress, WritesNothingThatNobodyShowed) {
  const ProgressPipe pipe;
  { const Progress progress("wattle summary", pipe.write_end.get()); }
  EXPECT_EQ(pipe.text(), "");
}

TEST(Progress, DoesNotWaitForAReaderThatDoesNotRead) {
  const ProgressPipe pipe;
  Progress progress("wattle sensors", pipe.write_end.get());
  progress.show(std::string(1'000'000, 'x'));
  // A pipe holds less.
  EXPECT_EQ(pipe.text().substr(0, 17), "wattle sensors: x");
}

TEST(Progress, HasABar) {
  EXPECT_EQ(bar_text(0.0, 4), "[    ]");
  EXPECT_EQ(bar_text(0.5, 4), "[██  ]");
  EXPECT_EQ(bar_text(1.0, 4), "[████]");
  EXPECT_EQ(bar_text(7.0, 2), "[██]");
}

TEST(Progress, FindsTheTimeThatIsLeftFromThePartThatIsDone) {
  EXPECT_EQ(left_text(0.25, 4s), "25 %, about 12 s left");
  EXPECT_EQ(left_text(1.0, 9s), "100 %, about 0 s left");
  EXPECT_EQ(left_text(0.001, 2s), "0 %, about 1998 s left");
}

}  // namespace
}  // namespace wattle::app
