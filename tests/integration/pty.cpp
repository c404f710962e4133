#include "pty.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "process.hpp"

namespace wattle::integration {

bool Pty::available() noexcept {
  return static_cast<bool>(Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)));
}

Pty::Pty() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  if (!master_) return;
  std::array<char, 64> path{};
  if (::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0 ||
      ::ptsname_r(master_.get(), path.data(), path.size()) != 0) {
    throw std::system_error(errno, std::generic_category(), "pseudo-terminal");
  }
  slave_path_ = path.data();
  ::fcntl(master_.get(), F_SETFL, O_NONBLOCK);
}

void Pty::become_terminal() const {
  ::setsid();
  const int slave = ::open(slave_path_.c_str(), O_RDWR | O_CLOEXEC);
  if (slave < 0 || ::ioctl(slave, TIOCSCTTY, 0) != 0) ::_exit(EXIT_FAILURE);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(slave, fd);
}

void Pty::resize(unsigned short columns, unsigned short lines) const {
  const winsize size{.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(::ioctl(master_.get(), TIOCSWINSZ, &size), 0) << "cannot resize";
}

void Pty::type(std::string_view keys) const {
  EXPECT_EQ(write_all(master_.get(), keys), 0) << "cannot type";
}

void Pty::take() {
  std::array<char, 65536> chunk;
  ssize_t count = 0;
  while ((count = ::read(master_.get(), chunk.data(), chunk.size())) > 0) {
    text_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

termios Pty::settings() const {
  termios settings{};
  EXPECT_EQ(::tcgetattr(master_.get(), &settings), 0);
  return settings;
}

bool Pty::shows(std::string_view text) {
  const bool shown = eventually([&] {
    std::array<char, 4096> chunk;
    const ssize_t count = ::read(master_.get(), chunk.data(), chunk.size());
    if (count > 0) text_.append(chunk.data(), static_cast<std::size_t>(count));
    return text_.find(text) != std::string::npos;
  });
  EXPECT_TRUE(shown) << "never shown: " << text << "\nshown: " << text_;
  return shown;
}

std::string Pty::text_to_the_end() {
  EXPECT_TRUE(eventually([&] {
    std::array<char, 4096> chunk;
    const ssize_t count = ::read(master_.get(), chunk.data(), chunk.size());
    if (count > 0) text_.append(chunk.data(), static_cast<std::size_t>(count));
    return count < 0 && errno == EIO;  // nobody has it open
  })) << "the program has not ended";
  return text_;
}

}  // namespace wattle::integration
