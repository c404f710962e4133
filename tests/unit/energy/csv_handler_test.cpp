#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <locale>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "fakes/file_size_limit.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/unprivileged.hpp"
#include "sanitized.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_samples::joules;
using testing_samples::sample;

constexpr testing_samples::Facts kOneTwo = {.timestamp_unix_s = 1.0, .duration_s = 2.0};

/// A sample whose row is "1.0;TAG;2.0;1.0;2.0".
EnergyTrace one_row(const std::string& tag) {
  return EnergyTrace({sample(tag, {{"d1", joules(1e-6)}, {"d2", joules(2e-6)}}, kOneTwo)});
}

constexpr const char* kHeader = "timestamp;tag;duration;d1;d2\n";

class CsvHandlerTest : public testing::Test {
 protected:
  CsvHandlerTest() {
    set_log([this](std::string_view message) { messages_.emplace_back(message); });
  }
  ~CsvHandlerTest() override { set_log({}); }

  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) { folder_.write("trace.csv", content); }
  void save(const EnergyTrace& trace) {
    CsvHandler handler(path_);
    handler.process(trace);
    handler.save_data();
  }
  /// The `errno` of the `WriteError` that saving to `path` throws; 0 where it throws none.
  int error_of_saving_to(const std::filesystem::path& path) {
    CsvHandler handler(path);
    handler.process(one_row("a"));
    try {
      handler.save_data();
    } catch (const WriteError& error) {
      EXPECT_EQ(error.path(), path.string());
      return error.error_number();
    }
    return 0;
  }

  fakes::TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "trace.csv";
  std::vector<std::string> messages_;
};

TEST_F(CsvHandlerTest, WritesAHeaderAndARowForEachSample) {
  save(EnergyTrace({sample("sample1", {{"d1", joules(1e-6)}, {"d2", joules(2e-6)}}, kOneTwo),
                    sample("sample2", {{"d1", joules(3e-6)}, {"d2", {}}}, kOneTwo)}));
  EXPECT_EQ(content(),
            "timestamp;tag;duration;d1;d2\n1.0;sample1;2.0;1.0;2.0\n1.0;sample2;2.0;3.0;\n");
  EXPECT_THAT(messages_, IsEmpty());
}

TEST_F(CsvHandlerTest, WritesAllTracesOfOneHandler) {
  CsvHandler handler(path_);
  handler.process(one_row("a"));
  handler.process(EnergyTrace());
  handler.process(one_row("b"));
  handler.save_data();
  EXPECT_EQ(content(), std::string(kHeader) + "1.0;a;2.0;1.0;2.0\n1.0;b;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, TouchesNoFileBeforeItIsTold) {
  CsvHandler handler(path_);
  handler.process(one_row("a"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  handler.save_data();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(CsvHandlerTest, ForgetsWhatItSaved) {
  CsvHandler handler(path_);
  handler.process(one_row("a"));
  handler.save_data();
  handler.process(one_row("b"));
  handler.save_data();
  EXPECT_EQ(content(), std::string(kHeader) + "1.0;a;2.0;1.0;2.0\n1.0;b;2.0;1.0;2.0\n");
  EXPECT_THROW(handler.save_data(), NoSampleProcessed);
}

TEST_F(CsvHandlerTest, MakesNoFileForNoSample) {
  CsvHandler handler(path_);
  EXPECT_THROW(handler.save_data(), NoSampleProcessed);
  handler.process(EnergyTrace());
  EXPECT_THROW(handler.save_data(), NoSampleProcessed);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(CsvHandlerTest, MakesNoFileForInconsistentSamples) {
  CsvHandler handler(path_);
  handler.process(one_row("a"));
  handler.process(EnergyTrace({sample("b", {{"d2", joules(1)}, {"d1", joules(1)}})}));
  EXPECT_THROW(handler.save_data(), InconsistentSamples);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(CsvHandlerTest, AppendsToAFileOfItsOwn) {
  write(std::string(kHeader) + "0.5;old;2.0;1.0;2.0\n");
  save(one_row("new"));
  EXPECT_EQ(content(), std::string(kHeader) + "0.5;old;2.0;1.0;2.0\n1.0;new;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, WritesAHeaderIntoAnEmptyFile) {
  write("");
  save(one_row("a"));
  EXPECT_EQ(content(), std::string(kHeader) + "1.0;a;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, LeavesAFileWithAnotherHeaderAsItIs) {
  for (const std::string before :
       {"timestamp;tag;duration;d2;d1\n", "timestamp;tag;duration;d1\n", "\n", "a diary",
        "timestamp;tag;duration;d1;d2;d3\n", "timestamp;tag", "\xff\x00\n"}) {
    write(before);
    EXPECT_THROW(save(one_row("a")), FormatError) << before;
    EXPECT_EQ(content(), before);
  }
}

TEST_F(CsvHandlerTest, EndsALastLineThatWasCutOff) {
  write(std::string(kHeader) + "0.5;cut;2");
  save(one_row("a"));
  EXPECT_EQ(content(), std::string(kHeader) + "0.5;cut;2\n1.0;a;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, EndsAHeaderThatLacksItsLineEnd) {
  write("timestamp;tag;duration;d1;d2");
  save(one_row("a"));
  EXPECT_EQ(content(), std::string(kHeader) + "1.0;a;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, ClosesTheQuotesOfALastLineThatWasCutOff) {
  const std::string before = kHeader + ("0.5;\"" + std::string(100'000, 'x')) + "\"\";\ncut";
  write(before);
  save(one_row("a"));
  EXPECT_EQ(content(), before + "\"\n1.0;a;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, ClosesTheQuotesOfATagThatWasCutOffBehindALineEnd) {
  const std::string before = std::string(kHeader) + "0.5;\"two\n";
  write(before);
  save(one_row("a"));
  EXPECT_EQ(content(), before + "\"\n1.0;a;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, AddsNoQuoteForOneWithinATag) {
  const std::string before = std::string(kHeader) + "0.5;17\";2.0;1.0;2.0";
  write(before);
  save(one_row("a"));
  EXPECT_EQ(content(), before + "\n1.0;a;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, QuotesWhatWouldBreakTheTable) {
  save(one_row("a;\"b\"\r\nc"));
  EXPECT_EQ(content(), std::string(kHeader) + "1.0;\"a;\"\"b\"\"\r\nc\";2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, KeepsLongTagsAndBytesThatAreNoText) {
  const std::string tag = std::string(1'000'000, 'x') + "\xff\xc3(";
  save(one_row(tag));
  EXPECT_EQ(content(), kHeader + ("1.0;" + tag) + ";2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, SaysWhyAFileCannotBeWritten) {
  EXPECT_EQ(error_of_saving_to(folder_.path()), EISDIR);
  EXPECT_EQ(error_of_saving_to(folder_.path() / "missing" / "trace.csv"), ENOENT);
  EXPECT_EQ(error_of_saving_to("/dev/full"), ENOSPC);
  EXPECT_EQ(error_of_saving_to(""), ENOENT);
}

TEST_F(CsvHandlerTest, SaysThatAFileIsNotPermitted) {
  write(kHeader);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(path_, std::filesystem::perms::owner_read);
  const fakes::Unprivileged nobody;
  if (!nobody.holds()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_EQ(error_of_saving_to(path_), EACCES);
}

TEST_F(CsvHandlerTest, KeepsItsSamplesWhereSavingFails) {
  write("something else\n");
  CsvHandler handler(path_);
  handler.process(one_row("a"));
  EXPECT_THROW(handler.save_data(), FormatError);
  handler.process(one_row("b"));
  std::filesystem::remove(path_);
  handler.save_data();
  EXPECT_EQ(content(), std::string(kHeader) + "1.0;a;2.0;1.0;2.0\n1.0;b;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, PutsTheFileBackWhereThereIsNoRoomAndKeepsTheSamples) {
  const std::string before = std::string(kHeader) + "0.5;old;2.0;1.0;2.0";
  write(before);
  CsvHandler handler(path_);
  for (int i = 0; i < 10'000; ++i) handler.process(one_row(std::to_string(i)));
  int error_number = 0;
  {
    // Several pieces are written before the one that does not fit.
    const fakes::FileSizeLimit limit(200'000);
    try {
      handler.save_data();
    } catch (const WriteError& error) {
      error_number = error.error_number();
    }
  }
  EXPECT_EQ(error_number, EFBIG);
  EXPECT_EQ(content(), before);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGXFSZ), 0);

  handler.save_data();
  EXPECT_THAT(content(), HasSubstr("1.0;2.0\n1.0;9999;2.0;1.0;2.0\n"));
}

TEST_F(CsvHandlerTest, WritesToAPipe) {
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  CsvHandler handler(pipe);
  handler.process(one_row("a"));
  handler.save_data();
  std::string read(4096, '\0');
  read.resize(static_cast<std::size_t>(
      std::max<ssize_t>(0, ::read(reader.get(), read.data(), read.size()))));
  EXPECT_EQ(read, std::string(kHeader) + "1.0;a;2.0;1.0;2.0\n");
}

TEST_F(CsvHandlerTest, SaysThatAPipesReaderHasGoneAndKeepsTheSamples) {
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  CsvHandler handler(pipe);
  // More than a pipe holds: the last write meets no reader.
  for (int i = 0; i < 10'000; ++i) handler.process(one_row(std::to_string(i)));
  int error_number = 0;
  {
    Fd end(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const std::jthread reader([&end] {
      pollfd wait{.fd = end.get(), .events = POLLIN, .revents = 0};
      ::poll(&wait, 1, -1);
      end.reset();
    });
    try {
      handler.save_data();
    } catch (const WriteError& error) {
      error_number = error.error_number();
    }
  }
  EXPECT_EQ(error_number, EPIPE);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);

  std::filesystem::remove(pipe);
  handler.save_data();
  EXPECT_EQ(std::filesystem::file_size(pipe), 208'919U);
}

/// Commas for points and points between thousands, as in Germany.
class GermanNumbers : public std::numpunct<char> {
 protected:
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

TEST_F(CsvHandlerTest, WritesPointsUnderAGermanLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new GermanNumbers));
  // The C library's own, where it is installed.
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // NOLINT(concurrency-mt-unsafe): one thread
  save(EnergyTrace({sample("a", {{"d1", joules(1234.5)}, {"nvidia_gpu_0", joules(1234.5)}},
                           {.timestamp_unix_s = 1669000000.5, .duration_s = 1234.5})}));
  std::setlocale(LC_ALL, "C");  // NOLINT(concurrency-mt-unsafe)
  std::locale::global(before);
  EXPECT_THAT(content(), HasSubstr("\n1669000000.5;a;1234.5;1234500000.0;1234500000\n"));
}

TEST_F(CsvHandlerTest, SaysOnceThatSamplesWereNotSaved) {
  {
    CsvHandler handler(path_);
    handler.process(one_row("a"));
    handler.process(one_row("b"));
  }
  EXPECT_THAT(messages_, ElementsAre("2 samples for " + path_.string() +
                                     " are lost: call save_data before the handler is destroyed"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

/// The child's handler is a copy: the parent answers for the samples.
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

/// A second of two whose energy nobody knows: a counter restarted.
MeasuredEnergy lower_bound() {
  return {.energy = Joules(600.0),
          .uncertainty = Joules(61e-6),
          .unknown = Seconds(1.0),
          .flags = Flags::of(Flag::reset)};
}

TEST_F(CsvHandlerTest, LeavesOutALowerBoundAndSaysSo) {
  save(EnergyTrace({sample("a", {{"d1", lower_bound()}, {"d2", joules(2e-6)}}, kOneTwo)}));
  EXPECT_EQ(content(), std::string(kHeader) + "1.0;a;2.0;;2.0\n");
  EXPECT_THAT(messages_, ElementsAre(HasSubstr("1 energy for " + path_.string() +
                                               " is a lower bound and was left out (d1)")));
}

TEST_F(CsvHandlerTest, WritesWhatIsKnownOfALowerBoundWithDetails) {
  CsvHandler handler(path_, {.details = true});
  handler.process(EnergyTrace({sample("a", {{"d1", lower_bound()}}, kOneTwo)}));
  handler.save_data();
  EXPECT_EQ(content(),
            "timestamp;tag;duration;d1;d1_uncertainty;d1_unknown_s;d1_flags\n"
            "1.0;a;2.0;600000000.0;61.0;1.0;reset\n");
  EXPECT_THAT(messages_, IsEmpty());
}

}  // namespace
}  // namespace wattle
