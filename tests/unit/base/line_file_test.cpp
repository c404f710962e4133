#include "base/files/line_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

#include "base/files/fd.hpp"
#include "fakes/file_size_limit.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/unprivileged.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

class LineFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) { folder_.write("lines", content); }
  [[nodiscard]] LineFile open() const { return {path_, "# "}; }

  fakes::TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "lines";
};

/// The `errno` of the `WriteError` that this throws; 0 where it throws none.
int error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const WriteError& error) {
    return error.error_number();
  }
  return 0;
}

TEST_F(LineFileTest, AddsLinesAtOnce) {
  LineFile file = open();
  file.add("# a\n");
  EXPECT_EQ(content(), "# a\n");
  file.add("b\nc\n");
  file.sync();
  EXPECT_EQ(content(), "# a\nb\nc\n");
}

TEST_F(LineFileTest, GoesOnAfterTheLastLine) {
  write("# old\n");
  open().add("new\n");
  EXPECT_EQ(content(), "# old\nnew\n");
}

TEST_F(LineFileTest, PutsAHeaderBeforeTheFirstLineAlone) {
  { LineFile(path_, "# ", "# head\n").add("a\n"); }
  { LineFile(path_, "# ", "# head\n").add("b\n"); }
  EXPECT_EQ(content(), "# head\na\nb\n");
}

TEST_F(LineFileTest, PutsTheHeaderBeforeTheFirstLineOfAFileMadeAgain) {
  LineFile file(path_, "# ", "# head\n");
  file.add("a\n");
  std::filesystem::remove(path_);
  file.add("b\n");
  EXPECT_EQ(content(), "# head\nb\n");
}

TEST_F(LineFileTest, KnowsADateByItsDigits) {
  const std::string digits(4, LineFile::kDigit);
  write("2026/x\n");
  LineFile(path_, digits + "/").add("2027/y\n");
  EXPECT_EQ(content(), "2026/x\n2027/y\n");
  for (const std::string other : {"202x/x\n", "2026:x\n", "\1\1\1\1/\n"}) {
    write(other);
    EXPECT_THROW(LineFile(path_, digits + "/"), FormatError) << other;
  }
}

TEST_F(LineFileTest, TakesAwayALineThatWasCutOff) {
  for (const std::string& cut : {std::string("cut"), std::string(200'000, 'x'),
                                 std::string(10'000, '\0'), std::string("\xff\r")}) {
    write("# old\n" + cut);
    open().add("new\n");
    EXPECT_EQ(content(), "# old\nnew\n");
  }
}

TEST_F(LineFileTest, TakesAwayAFirstLineThatWasCutOff) {
  for (const std::string cut : {"#", "# ", "# c"}) {
    write(cut);
    open().add("# new\n");
    EXPECT_EQ(content(), "# new\n");
  }
}

TEST_F(LineFileTest, TakesAwayWhatAnotherWritersDeathCutOff) {
  LineFile file = open();
  file.add("# a\n");
  for (const std::string_view cut : {"hal", "whole\nhal"}) {
    {
      std::ofstream(path_, std::ios::app) << cut;
    }
    file.add("b\n");
  }
  EXPECT_EQ(content(), "# a\nb\nwhole\nb\n");
}

TEST_F(LineFileTest, PutsTheHeaderBackWhereAllThatWasThereWasCutOff) {
  LineFile file(path_, "# ", "# head\n");
  { std::ofstream(path_, std::ios::app) << "# he"; }
  file.add("a\n");
  EXPECT_EQ(content(), "# head\na\n");
}

TEST_F(LineFileTest, KnowsWhereItBegan) {
  EXPECT_EQ(open().begin(), 0U);
  write("# old\nhal");
  LineFile file = open();
  EXPECT_EQ(file.begin(), 6U);
  file.add("a\n");
  EXPECT_EQ(file.begin(), 6U);
  std::filesystem::resize_file(path_, 0);
  file.add("b\n");
  EXPECT_EQ(file.begin(), 0U) << "somebody emptied it";
}

TEST_F(LineFileTest, ThrowsAwayWhatItHoldsIfAsked) {
  write("# old\n");
  LineFile file(path_, "# ", "# head\n");
  file.clear();
  EXPECT_EQ(content(), "");
  file.add("a\n");
  EXPECT_EQ(content(), "# head\na\n");
  EXPECT_EQ(file.begin(), 0U);
  LineFile("/dev/null", "").clear();
}

TEST_F(LineFileTest, LeavesAFileOfAnotherKindAsItIs) {
  for (const std::string before : {"a diary", "#no blank\n", "\n", "\x7f\x45LF"}) {
    write(before);
    EXPECT_THROW((void)open(), FormatError) << before;
    EXPECT_EQ(content(), before);
  }
}

TEST_F(LineFileTest, MakesTheFoldersAboveIt) {
  const auto deep = folder_.path() / "a" / "b" / "c";
  LineFile(deep, "").add("x\n");
  EXPECT_EQ(std::filesystem::file_size(deep), 2U);
}

TEST_F(LineFileTest, IsMadeAgainWithItsFolderWhenItIsDeleted) {
  const auto inner = folder_.path() / "inner";
  LineFile file(inner / "lines", "");
  file.add("lost\n");
  std::filesystem::remove_all(inner);
  file.add("kept\n");
  std::ifstream in(inner / "lines");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "kept\n");
}

TEST_F(LineFileTest, NeverAddsToAnotherFileThatIsInItsPlace) {
  LineFile file = open();
  file.add("# a\n");
  std::filesystem::remove(path_);
  write("dear diary\n");
  EXPECT_THROW(file.add("# b\n"), FormatError);
  EXPECT_THROW(file.add("# b\n"), FormatError) << "nor at the second try";
  EXPECT_EQ(content(), "dear diary\n");
}

TEST_F(LineFileTest, DoesNotWaitForeverForALockThatSomebodyKeeps) {
  LineFile file = open();
  file.add("# a\n");
  const Fd other(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  EXPECT_EQ(error_of([&] { file.add("# b\n"); }), EWOULDBLOCK);
  EXPECT_EQ(error_of([&] { (void)open(); }), EWOULDBLOCK);
  ASSERT_EQ(::flock(other.get(), LOCK_UN), 0);
  file.add("# c\n");
  EXPECT_EQ(content(), "# a\n# c\n");
}

TEST_F(LineFileTest, SaysWhyItCannotBeWritten) {
  EXPECT_EQ(error_of([&] { LineFile(folder_.path(), ""); }), EISDIR);
  EXPECT_EQ(error_of([] { LineFile("", ""); }), ENOENT);
  write("");
  EXPECT_EQ(error_of([&] { LineFile(path_ / "below", ""); }), ENOTDIR);
  LineFile full("/dev/full", "");
  EXPECT_EQ(error_of([&] { full.add("x\n"); }), ENOSPC);
}

TEST_F(LineFileTest, SaysThatItIsNotPermitted) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_EQ(error_of([&] { (void)open(); }), EACCES);
}

TEST_F(LineFileTest, HasNoPartOfALineThatFindsNoRoom) {
  LineFile file = open();
  file.add("# a\n");
  {
    const fakes::FileSizeLimit limit(10);
    EXPECT_EQ(error_of([&] { file.add("too long\n"); }), EFBIG);
    EXPECT_EQ(content(), "# a\n");
    file.add("short\n");
  }
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGXFSZ), 0);
  file.add("b\n");
  EXPECT_EQ(content(), "# a\nshort\nb\n");
}

TEST_F(LineFileTest, IsMadeAgainWhileSomebodyRemovesItsFolder) {
  const std::filesystem::path folder = folder_.path() / "new" / "deep";
  LineFile file(folder / "lines", "# ");
  // Once for each line, at any time while it is added.
  constexpr int kLines = 1000;
  std::atomic<int> lines = 0;
  std::thread remover([&] {
    std::error_code ignored;  // a file that is made meanwhile
    for (int seen = 0; seen < kLines; seen = lines) {
      if (seen != lines) std::filesystem::remove_all(folder, ignored);
    }
  });
  int failures = 0;
  while (lines < kLines) {
    ++lines;
    failures += error_of([&] { file.add("# a line\n"); }) != 0 ? 1 : 0;
  }
  remover.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(LineFileTest, IsSharedWithAnother) {
  LineFile one = open();
  LineFile other = open();
  one.add("# 1\n");
  other.add("2\n");
  one.add("3\n");
  EXPECT_EQ(content(), "# 1\n2\n3\n");
}

}  // namespace
}  // namespace wattle
