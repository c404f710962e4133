#include "base/files/input_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <thread>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

std::string content_of(const InputFile& input) {
  return read_rest(input.file, std::size_t{1} << 20U).value_or("failed");
}

TEST(InputFile, IsAFile) {
  const fakes::TempFolder folder;
  folder.write("f", "text");
  const InputFile input = open_input((folder.path() / "f").string());
  EXPECT_EQ(input.problem, "");
  EXPECT_EQ(content_of(input), "text");
}

TEST(InputFile, IsNoFolder) {
  const fakes::TempFolder folder;
  const InputFile input = open_input(folder.path().string());
  EXPECT_FALSE(input.file);
  EXPECT_EQ(input.problem, "it is a folder");
}

TEST(InputFile, IsNoDeviceThatNeverEnds) {
  const fakes::TempFolder folder;
  const std::filesystem::path link = folder.path() / "hw_metrics.csv";
  std::filesystem::create_symlink("/dev/zero", link);
  const InputFile input = open_input(link.string());
  EXPECT_FALSE(input.file);
  EXPECT_EQ(input.problem, "it is a device");
}

TEST(InputFile, IsNothingForTheNullDevice) {
  const InputFile input = open_input("/dev/null");
  ASSERT_TRUE(input.file);
  EXPECT_EQ(content_of(input), "");
}

TEST(InputFile, IsNothingForAPipeThatNobodyWritesTo) {
  const fakes::TempFolder folder;
  const std::string path = (folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const InputFile input = open_input(path);
  ASSERT_TRUE(input.file);
  EXPECT_EQ(content_of(input), "");
}

TEST(InputFile, WaitsForWhatIsWrittenToAPipe) {
  const fakes::TempFolder folder;
  const std::string path = (folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Fd writer(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(writer);
  const InputFile input = open_input(path);
  // Waits for the writer below, whichever of both is first.
  std::string content;
  std::thread reader([&] { content = content_of(input); });
  ASSERT_EQ(write_all(writer.get(), std::string("text")), 0);
  writer.reset();
  reader.join();
  EXPECT_EQ(content, "text");
}

TEST(InputFile, SaysWhatTheSystemSaysOfAMissingFile) {
  const fakes::TempFolder folder;
  EXPECT_EQ(open_input((folder.path() / "f").string()).problem, "No such file or directory");
}

}  // namespace
}  // namespace wattle
