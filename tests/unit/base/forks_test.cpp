#include "base/forks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wattle {
namespace {

TEST(Forks, AreOneMoreInAChild) {
  const std::uint64_t before = forks();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(forks() == before + 1 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(forks(), before) << "the parent stays what it was";
}

}  // namespace
}  // namespace wattle
