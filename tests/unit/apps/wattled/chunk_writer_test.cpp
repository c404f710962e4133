// The folder of the history on disk: bounded, for one daemon, and no reason to end for it.
#include "history/chunk_writer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "sample_chunk.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ChunkWriterTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (root_.path() / "history").string(); }
  [[nodiscard]] std::shared_ptr<const ChunkFolder> open() const {
    return std::make_shared<const ChunkFolder>(path());
  }
  [[nodiscard]] ChunkWriter writer_in(const std::shared_ptr<const ChunkFolder>& folder,
                                      const ChunkLimits& limits = {}) {
    return {folder, limits, {.session = kSampleSession, .made = {}}, [this](std::string_view line) {
              lines_.emplace_back(line);
            }};
  }
  /// Batch `number`, at its time plus `later` seconds.
  static ChunkFrames frames(std::uint64_t number, double later = 0.0) {
    std::string channels;
    if (number == 0) {
      channels =
          encode(sample_counter(1), kSampleSession) + encode(sample_gauge(2), kSampleSession);
    }
    return {.channels = channels,
            .batch = encode(sample_batch(number), kSampleSession),
            .number = number,
            .at = sample_time(static_cast<double>(number) / 2.0 + later)};
  }
  /// The numbers of the batches in all files, in their order.
  static std::vector<std::uint64_t> numbers_in(const ChunkFolder& folder) {
    std::vector<std::uint64_t> numbers;
    for (const ChunkFile& file : folder.list()) {
      std::string bytes;
      EXPECT_TRUE(folder.read(file.name, bytes)) << file.name;
      ChunkReader reader(bytes);
      std::size_t channels = 0;
      while (const auto part = reader.next()) {
        if (std::holds_alternative<StoredChannel>(*part)) ++channels;
        if (const auto* const batch = std::get_if<ValueBatch>(&*part)) {
          numbers.push_back(batch->number);
        }
      }
      EXPECT_EQ(channels, 2U) << "each file can be read by itself";
    }
    return numbers;
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)open();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  fakes::TempFolder root_;
  std::vector<std::string> lines_;
};

TEST_F(ChunkWriterTest, WhatIsAppendedIsInTheFileAtOnce) {
  const auto folder = open();
  ChunkWriter writer = writer_in(folder);
  writer.append(frames(0));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(0));
  writer.append(frames(1));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(0, 1));
  EXPECT_EQ(folder->list().size(), 1U);
}

TEST_F(ChunkWriterTest, FilesAreForTheDaemonsUserAlone) {
  const auto folder = open();
  ChunkWriter writer = writer_in(folder);
  writer.append(frames(0));
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << entry.path();
  }
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(ChunkWriterTest, AFullChunkIsFollowedByAnother) {
  const auto folder = open();
  ChunkWriter writer = writer_in(folder, {.chunk_bytes = 400});
  for (std::uint64_t number = 0; number < 12; ++number) writer.append(frames(number));
  EXPECT_GT(folder->list().size(), 2U);
  EXPECT_THAT(numbers_in(*folder), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST_F(ChunkWriterTest, TheOldestChunksMakeRoom) {
  const auto folder = open();
  ChunkWriter writer = writer_in(folder, {.bytes = 4 * kLeastCharge, .chunk_bytes = 1});
  for (std::uint64_t number = 0; number < 20; ++number) writer.append(frames(number));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(16, 17, 18, 19));
}

TEST_F(ChunkWriterTest, ChunksThatAreTooOldAreRemoved) {
  const auto folder = open();
  const ChunkLimits limits{.age = std::chrono::hours(24), .chunk_length = std::chrono::hours(1)};
  ChunkWriter writer = writer_in(folder, limits);
  constexpr double kHour = 3600.0;
  writer.append(frames(0));
  writer.append(frames(1, 2.0 * kHour));
  writer.append(frames(2, 24.9 * kHour));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(0, 1, 2));
  writer.append(frames(3, 26.0 * kHour));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(1, 2, 3));
}

TEST_F(ChunkWriterTest, AWallClockThatIsAheadRemovesNothing) {
  const auto folder = open();
  const ChunkLimits limits{.age = std::chrono::hours(24), .chunk_length = std::chrono::hours(1)};
  constexpr double kHour = 3600.0;
  {
    ChunkWriter earlier = writer_in(folder, limits);
    earlier.append(frames(0));
    earlier.append(frames(1, 20.0 * kHour));
  }
  const auto append = [&](ChunkWriter& writer, std::uint64_t number, double hours) {
    ChunkFrames next = frames(number, (9000.0 + hours) * kHour);
    next.channels.clear();
    next.uptime = std::chrono::seconds(static_cast<std::int64_t>(hours * kHour));
    writer.append(next);
  };
  ChunkWriter writer(folder, limits, {.session = 1, .made = {}}, {});
  append(writer, 2, 0.0);
  append(writer, 3, 2.0);
  EXPECT_EQ(folder->list().size(), 4U);
  append(writer, 4, 6.0);  // the first file is a day old whatever the clock shows
  EXPECT_EQ(folder->list().size(), 4U);
  EXPECT_GT(folder->list().front().made, sample_time(19.0 * kHour));
}

TEST_F(ChunkWriterTest, ALackOfMemoryEndsNothing) {
  const auto folder = open();
  ChunkWriter writer(folder, {}, {.session = kSampleSession, .made = {}},
                     [](std::string_view) { throw std::bad_alloc(); });
  std::filesystem::create_directory(std::filesystem::path(path()) /
                                    chunk_name(sample_time(0.0), kSampleSession, 1));
  writer.append(frames(0));  // fails, and cannot log it
  writer.append(frames(1));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(1));
}

TEST_F(ChunkWriterTest, OtherFilesAreNotTouched) {
  const auto folder = open();
  for (const char* const name : {"notes.txt", "wattled-1.chunk", "wattled-x.chunk"}) {
    std::ofstream(std::filesystem::path(path()) / name) << "precious";
  }
  ChunkWriter writer = writer_in(folder, {.bytes = 1, .chunk_bytes = 1});
  for (std::uint64_t number = 0; number < 4; ++number) writer.append(frames(number));
  EXPECT_EQ(folder->list().size(), 1U);
  for (const char* const name : {"notes.txt", "wattled-1.chunk", "wattled-x.chunk"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(path()) / name)) << name;
  }
}

TEST_F(ChunkWriterTest, AFailureIsLoggedOnceAndTriedAgain) {
  const auto folder = open();
  ChunkWriter writer = writer_in(folder);
  // The names of the first two files are taken.
  for (const auto& [second, number] : {std::pair(0.0, 1U), std::pair(15.0, 2U)}) {
    std::filesystem::create_directory(std::filesystem::path(path()) /
                                      chunk_name(sample_time(second), kSampleSession, number));
  }
  writer.append(frames(0));
  writer.append(frames(1));        // too early
  writer.append(frames(2, 14.0));  // fails again
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], HasSubstr("cannot write the history in " + path()));
  writer.append(frames(3, 30.0));
  EXPECT_EQ(lines_.size(), 2U);
  EXPECT_THAT(lines_.back(), HasSubstr("again"));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(3));
}

TEST_F(ChunkWriterTest, AFullDiskLeavesNoEmptyFiles) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  const auto folder = open();
  ChunkWriter writer = writer_in(folder);
  writer.append(frames(0));
  // The file's descriptor leads to a full disk from here on.
  const std::string name = (std::filesystem::path(path()) / folder->list().front().name).string();
  struct stat file {};
  ASSERT_EQ(::stat(name.c_str(), &file), 0);
  for (int fd = 0; fd < 1024; ++fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || status.st_ino != file.st_ino) continue;
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(full, fd);
    ::close(full);
    break;
  }
  writer.append(frames(1));
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], HasSubstr("No space left on device"));
  writer.append(frames(2, 20.0));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(0, 2));
}

TEST_F(ChunkWriterTest, ARemovedFileIsFollowedByAnother) {
  const auto folder = open();
  ChunkWriter writer = writer_in(folder);
  writer.append(frames(0));
  ASSERT_EQ(folder->remove(folder->list().front().name), 0);
  writer.append(frames(1));
  EXPECT_THAT(numbers_in(*folder), ElementsAre(1));
  EXPECT_TRUE(lines_.empty());
}

TEST_F(ChunkWriterTest, AFolderInUseIsRefused) {
  const auto folder = open();
  EXPECT_EQ(refusal(), "cannot keep the history in " + path() +
                           ": another wattled uses it; name another folder with --history-dir");
}

TEST_F(ChunkWriterTest, FoldersOfOthersAndLinksAreRefused) {
  ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
  ASSERT_EQ(::chmod(path().c_str(), 0770), 0);
  EXPECT_THAT(refusal(), HasSubstr("other users may write in it; run 'chmod go-w' on it"));
  ASSERT_EQ(::rmdir(path().c_str()), 0);
  ASSERT_EQ(::symlink(root_.path().c_str(), path().c_str()), 0);
  EXPECT_THAT(refusal(), HasSubstr("it is a link or a file, not a folder"));
  EXPECT_THROW(ChunkFolder(path() + "//"), Error) << "a link with a slash at its end";
  ASSERT_EQ(::unlink(path().c_str()), 0);
  std::ofstream(path()) << "a file";
  EXPECT_THAT(refusal(), HasSubstr("it is a link or a file, not a folder"));
  ASSERT_EQ(::unlink(path().c_str()), 0);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
  ASSERT_EQ(::chown(path().c_str(), 1, 1), 0);
  EXPECT_THAT(refusal(), HasSubstr("another user owns it"));
}

TEST_F(ChunkWriterTest, AFolderWithoutAParentIsRefused) {
  EXPECT_THROW(ChunkFolder((root_.path() / "a" / "b").string()), Error);
}

}  // namespace
}  // namespace wattle::daemon
