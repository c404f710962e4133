#include "read_watch.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "process.hpp"

namespace wattle::integration {

ReadWatch::ReadWatch(const std::filesystem::path& file)
    : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (!events_ || ::inotify_add_watch(events_.get(), file.c_str(), IN_ACCESS) < 0) {
    throw std::system_error(errno, std::generic_category(), "inotify");
  }
}

bool ReadWatch::has_seen_a_read() const {
  // Equal events that wait are one: however many reads there were, one event stands for them.
  alignas(inotify_event) std::array<char, sizeof(inotify_event)> event;
  return ::read(events_.get(), event.data(), event.size()) > 0;
}

void ReadWatch::wait_for_round() {
  (void)has_seen_a_read();  // of before
  // The first read may have begun before the call, and the others of its round as well. Between
  // the second and the third lies a whole round.
  for (int reads = 0; reads < 3; ++reads) {
    ASSERT_TRUE(eventually([&] { return has_seen_a_read(); })) << "the file is not read any more";
  }
}

}  // namespace wattle::integration
