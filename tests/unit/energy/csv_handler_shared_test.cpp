// Files of the CSV handler that threads and processes share, and forked ones.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files/fd.hpp"
#include "csv_file.hpp"
#include "fakes/file_size_limit.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/unprivileged.hpp"
#include "sanitized.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

TEST_F(CsvHandlerTest, SaysNothingOfUnsavedSamplesInAForkedProcess) {
  auto handler = std::make_unique<CsvHandler>(path_);
  handler->process(one_row("a"));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    handler.reset();
    ::_exit(messages_.empty() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  handler->save_data();
}

/// The number of lines, if each is a header at the top or a whole row below it; 0 otherwise.
std::size_t count_whole_rows(const std::string& text, const std::string& row_begin) {
  const auto count = [&text](const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  const std::size_t rows = count("\n" + row_begin);
  const bool whole = text.starts_with(kHeader) && count(";2.0;1.0;2.0\n") == rows &&
                     count("\n") == rows + 1 && count("timestamp") == 1;
  return whole ? rows : 0;
}

TEST_F(CsvHandlerTest, IsSharedByManyThreads) {
  constexpr int kThreads = 16;
  constexpr int kEach = 50;
  CsvHandler handler(path_);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&handler] {
        for (int n = 0; n < kEach; ++n) {
          handler.process(one_row("x"));
          try {
            if (n % 10 == 0) handler.save_data();
          } catch (const NoSampleProcessed&) {
            // Another thread saved ours.
          }
        }
      });
    }
  }
  handler.save_data();
  EXPECT_EQ(count_whole_rows(content(), "1.0;x"), 800U);
}

TEST_F(CsvHandlerTest, SharesAFileWithOtherProcesses) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 50;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      CsvHandler handler(path_);
      for (int n = 0; n < kEach; ++n) {
        handler.process(one_row(std::string(5000, 'x')));
        if (n % 20 == 0) handler.save_data();
      }
      handler.save_data();
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(count_whole_rows(content(), "1.0;x"), 200U);
}

TEST_F(CsvHandlerTest, WritesAMillionRows) {
  CsvHandler handler(path_);
  constexpr std::size_t kMany = kSanitized ? 100'000 : 1'000'000;
  constexpr std::uintmax_t kDigits = kSanitized ? 488'890 : 5'888'890;  // of the tags "0", "1", ...
  handler.process(testing_samples::many_samples(kMany));
  handler.save_data();
  // "1669000000.0;" TAG ";0.5;1000000.0;2000000\n"
  constexpr std::uintmax_t kHeaderBytes = 46;
  EXPECT_EQ(std::filesystem::file_size(path_), kHeaderBytes + kMany * 36U + kDigits);
}

}  // namespace
}  // namespace wattle
