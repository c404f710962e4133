#include "base/files/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(Fd, ClosesItselfOnce) {
  int number = -1;
  {
    Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = fd.get();
    const Fd moved = std::move(fd);
    EXPECT_TRUE(is_open(number));
    EXPECT_EQ(moved.get(), number);
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, GivesItsDescriptorAway) {
  Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd taken(fd.release());
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(taken.get()));
}

TEST(Fd, OpensCloseOnExec) {
  const Fd fd = open_for_reading("/dev/null");
  ASSERT_TRUE(fd);
  EXPECT_EQ(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Fd, IsEmptyWithTheCauseWhereOpeningFails) {
  errno = 0;
  EXPECT_FALSE(open_for_reading("/nowhere/at/all"));
  EXPECT_EQ(errno, ENOENT);
}

TEST(Fd, ReadsFromTheStartEachTime) {
  const fakes::TempFolder folder;
  folder.write("file", "12345\n");
  const Fd fd = open_for_reading((folder.path() / "file").string());
  std::array<char, 16> buffer{};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(read_at_start(fd.get(), buffer), 6);
    EXPECT_EQ(std::string_view(buffer.data(), 6), "12345\n");
  }
}

TEST(Fd, WritesEverythingToAReaderThatIsSlow) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  Fd writer(ends[0]);
  const Fd reader(ends[1]);
  const std::string sent(4'000'000, 'x');  // far more than a socket holds
  int result = -1;
  std::thread thread([&] {
    result = write_all(writer.get(), sent);
    writer.reset();
  });
  std::string received;
  std::array<char, 65536> chunk{};
  ssize_t count = -1;
  while ((count = ::read(reader.get(), chunk.data(), chunk.size())) != 0) {
    if (count > 0) received.append(chunk.data(), static_cast<std::size_t>(count));
  }
  thread.join();
  EXPECT_EQ(result, 0);
  EXPECT_EQ(received.size(), sent.size());
}

TEST(Fd, WritingToAFullDeviceGivesTheCause) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(write_all(full.get(), std::string_view("x")), ENOSPC);
}

}  // namespace
}  // namespace wattle
