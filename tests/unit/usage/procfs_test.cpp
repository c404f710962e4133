#include "usage/process/procfs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "fakes/process_files.hpp"

namespace wattle {
namespace {

std::array<char, 256> text;

TEST(Procfs, KeepsAsManyFilesOpenAsItHasRoomFor) {
  const fakes::ProcessFiles files;
  for (const int pid : {1, 2, 3}) files.put({.pid = pid});
  Procfs procfs(files.system(), 2);
  KeptFile first(procfs, 1, ProcessFile::statm);
  {
    const KeptFile second(procfs, 2, ProcessFile::statm);
    const KeptFile third(procfs, 3, ProcessFile::statm);
    EXPECT_TRUE(first.is_kept());
    EXPECT_TRUE(second.is_kept());
    EXPECT_FALSE(third.is_kept());
    EXPECT_GT(third.read(text), 0) << "opened for each reading";
  }
  EXPECT_TRUE(KeptFile(procfs, 3, ProcessFile::statm).is_kept()) << "one went, so there is room";
}

TEST(Procfs, GivesRoomBackOnceWhereAFileMoves) {
  const fakes::ProcessFiles files;
  files.put({.pid = 1});
  Procfs procfs(files.system(), 1);
  {
    KeptFile file(procfs, 1, ProcessFile::statm);
    KeptFile moved = std::move(file);
    KeptFile again;
    again = std::move(moved);
    EXPECT_TRUE(again.is_kept());
    EXPECT_FALSE(KeptFile(procfs, 1, ProcessFile::stat).is_kept());
  }
  const KeptFile one(procfs, 1, ProcessFile::stat);
  const KeptFile two(procfs, 1, ProcessFile::statm);
  EXPECT_TRUE(one.is_kept());
  EXPECT_FALSE(two.is_kept());
}

TEST(Procfs, SaysThatAProcessIsGone) {
  const fakes::ProcessFiles files;
  Procfs procfs(files.system(), 9);
  const KeptFile file(procfs, 1, ProcessFile::statm);
  EXPECT_EQ(file.read(text), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(Procfs, IsTheProcessesOwnOnlyAtItsUsualPlace) {
  EXPECT_TRUE(Procfs(System{}, 0).is_own());
  System system;
  system.procfs = "/proc/";
  EXPECT_TRUE(Procfs(system, 0).is_open());
  EXPECT_TRUE(Procfs(system, 0).is_own());
  EXPECT_FALSE(Procfs(fakes::ProcessFiles().system(), 0).is_own());
  system.procfs = "/nowhere";
  EXPECT_FALSE(Procfs(system, 0).is_open());
}

TEST(Procfs, HasThisProcessAndItsThreads) {
  const Procfs procfs(System{}, 0);
  const auto processes = procfs.processes();
  EXPECT_EQ(std::count(processes.begin(), processes.end(), ::getpid()), 1);
  const auto threads = procfs.threads_of(::getpid());
  EXPECT_EQ(std::count(threads.begin(), threads.end(), ::getpid()), 1);
  EXPECT_TRUE(procfs.threads_of(0).empty());
}

}  // namespace
}  // namespace wattle
