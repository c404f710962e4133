#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <filesystem>
#include <locale>
#include <string>
#include <thread>

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

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_samples::joules;
using testing_samples::sample;

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

TEST_F(CsvHandlerTest, TouchesNoFileBeforeItIsAsked) {
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

TEST_F(CsvHandlerTest, ClosesTheQuotesOfATagThatWasCutOffAfterALineEnd) {
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
/// The energy of one of two seconds is unknown: a counter restarted.
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
