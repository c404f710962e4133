#include "wattle/run_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fakes/file_size_limit.hpp"
#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunLogTest : public testing::Test {
 protected:
  RunLogTest() {
    set_log([this](std::string_view message) { messages_.emplace_back(message); });
  }
  ~RunLogTest() override { set_log({}); }

  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// The file's lines, each without its `ts`, which must be well-formed.
  [[nodiscard]] std::vector<std::string> lines() const {
    constexpr std::string_view kBegin = R"({"ts": "0000-00-00T00:00:00.000+00:00", )";
    std::vector<std::string> lines;
    std::ifstream file(path_, std::ios::binary);
    for (std::string line; std::getline(file, line);) {
      std::string begin = line.substr(0, kBegin.size());
      for (char& c : begin) c = c >= '0' && c <= '9' ? '0' : c;
      EXPECT_EQ(begin, kBegin) << line;
      lines.push_back(line.substr(std::min(kBegin.size(), line.size())));
    }
    return lines;
  }

  fakes::TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "run.jsonl";
  std::vector<std::string> messages_;
};

TEST_F(RunLogTest, WritesPhasesAndEventsAsTheyHappen) {
  RunLog log(path_);
  log.log_phase("compile", Seconds(1.23456), {{"jobs", 8}, {"cache", "warm"}});
  EXPECT_THAT(lines(), ElementsAre(R"("type": "phase", "name": "compile", "seconds": 1.235, )"
                                   R"("jobs": 8, "cache": "warm"})"));
  log.log_event("start", {{"gpus", Value::Array{0, 1}}});
  log.log_event("end");
  EXPECT_THAT(
      lines(),
      ElementsAre(testing::_, R"("type": "event", "event": "start", "data": {"gpus": [0, 1]}})",
                  R"("type": "event", "event": "end"})"));
}

TEST_F(RunLogTest, RoundsSecondsToThreeDecimals) {
  RunLog log(path_);
  for (const double seconds : {0.0, 2.0, 0.0005, 1.0005, 1e16, -0.0001}) {
    log.log_phase("", Seconds(seconds));
  }
  log.log_phase("", Seconds(std::numeric_limits<double>::quiet_NaN()));
  log.log_phase("", Seconds(std::numeric_limits<double>::infinity()));
  // As Python 3.11 writes round(seconds, 3).
  const std::string begin = R"("type": "phase", "name": "", "seconds": )";
  EXPECT_THAT(lines(),
              ElementsAre(begin + "0.0}", begin + "2.0}", begin + "0.001}", begin + "1.0}",
                          begin + "1e+16}", begin + "-0.0}", begin + "null}", begin + "null}"));
}

TEST_F(RunLogTest, DatesEntriesByTheWallClock) {
  const auto before = std::chrono::system_clock::now();
  RunLog(path_).log_event("now");
  const auto after = std::chrono::system_clock::now();
  const std::string ts = nlohmann::json::parse(content())["ts"];
  std::tm time{};
  int milliseconds = 0;
  ASSERT_EQ(std::sscanf(ts.c_str(), "%d-%d-%dT%d:%d:%d.%d+00:00", &time.tm_year, &time.tm_mon,
                        &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec, &milliseconds),
            7);
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  const auto told = std::chrono::system_clock::from_time_t(::timegm(&time)) +
                    std::chrono::milliseconds(milliseconds);
  EXPECT_GE(told, before - std::chrono::milliseconds(2));
  EXPECT_LE(told, after + std::chrono::milliseconds(2));
}

TEST_F(RunLogTest, RefusesExtrasThatWouldReplaceWhatAPhaseHas) {
  RunLog log(path_);
  for (const char* name : {"ts", "type", "name", "seconds"}) {
    EXPECT_THROW(log.log_phase("p", Seconds(1), {{"ok", 1}, {name, 1}}), InvalidArgument) << name;
    EXPECT_THROW((void)log.phase("p", {{name, 1}}), InvalidArgument) << name;
  }
  EXPECT_THAT(content(), IsEmpty());
  log.log_event("e", {{"ts", 1}});  // inside of "data" it replaces nothing
  EXPECT_THAT(lines(), ElementsAre(HasSubstr(R"("data": {"ts": 1})")));
}

TEST_F(RunLogTest, KeepsForeignTextOnItsLine) {
  RunLog log(path_);
  log.log_phase("a\n\"b\"\xff é", Seconds(1), {{"k\n", "\U0001F600"}});
  EXPECT_THAT(lines(), ElementsAre(R"("type": "phase", "name": "a\n\"b\"\ufffd \u00e9", )"
                                   R"("seconds": 1.0, "k\n": "\ud83d\ude00"})"));
}

TEST_F(RunLogTest, TimesAPhaseByItself) {
  RunLog log(path_);
  const auto begin = std::chrono::steady_clock::now();
  {
    RunLog::Phase phase = log.phase("work", {{"step", 1}});
    phase.add("loss", 0.5);
    EXPECT_THROW(phase.add("seconds", 1), InvalidArgument);
    EXPECT_THAT(content(), IsEmpty());
  }
  const double longest = Seconds(std::chrono::steady_clock::now() - begin).count() + 0.0005;
  const auto entry = nlohmann::json::parse(content());
  EXPECT_GE(entry["seconds"].get<double>(), 0.0);
  EXPECT_LE(entry["seconds"].get<double>(), longest);
  EXPECT_THAT(lines(), ElementsAre(HasSubstr(R"(, "step": 1, "loss": 0.5})")));
}

TEST_F(RunLogTest, LogsAPhaseThatAnExceptionEnds) {
  RunLog log(path_);
  try {
    const RunLog::Phase phase = log.phase("work");
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("work")));
}

TEST_F(RunLogTest, LogsAPhaseOnce) {
  RunLog log(path_);
  {
    RunLog::Phase phase = log.phase("work");
    phase.close();
    phase.close();
  }
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(RunLogTest, MayBeMovedWhileAPhaseIsOpen) {
  auto log = std::make_unique<RunLog>(path_);
  RunLog::Phase phase = log->phase("compile");
  RunLog moved = std::move(*log);
  log.reset();
  phase.close();
  moved.log_event("done");
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(RunLogTest, MayGoWhileAPhaseIsOpen) {
  for (const Durability durability : {Durability::none, Durability::flush}) {
    const RunLog::Phase phase = RunLog(path_, durability).phase("compile");
  }
  EXPECT_EQ(lines().size(), 2U) << "what was kept back too";
}

TEST_F(RunLogTest, RefusesToBeUsedOnceItWasMoved) {
  RunLog log(path_);
  const RunLog moved = std::move(log);
  EXPECT_THROW(log.log_event("start"), InvalidArgument);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(log.log_phase("compile", Seconds(1)), InvalidArgument);
  EXPECT_THROW((void)log.phase("compile"), InvalidArgument);
  EXPECT_THROW(log.write(path_), InvalidArgument);
  EXPECT_THROW(log.flush(), InvalidArgument);
  log = RunLog();
  EXPECT_NO_THROW(log.log_event("start"));
}

TEST_F(RunLogTest, TakesWhatPeopleHave) {
  RunLog log(path_);
  const std::vector<double> losses = {0.5, 0.25};
  const std::set<std::string> names = {"a", "b"};
  log.log_event("end", {{"some", std::optional(3)},
                        {"none", std::optional<int>()},
                        {"nothing", std::nullopt},
                        {"path", std::filesystem::path("/tmp/x")},
                        {"losses", losses},
                        {"names", names},
                        {"bits", std::vector<bool>{true, false}},
                        {"nested", std::vector<std::vector<int>>{{1}, {2, 3}}},
                        {"maybe", std::vector<std::optional<int>>{1, std::nullopt}},
                        {"list", {1, "two", 3.5}},
                        {"texts", {"a", "b"}},
                        {"letter", 'x'}});
  EXPECT_THAT(lines().at(0),
              HasSubstr(R"("data": {"some": 3, "none": null, "nothing": null, "path": "/tmp/x", )"
                        R"("losses": [0.5, 0.25], "names": ["a", "b"], "bits": [true, false], )"
                        R"("nested": [[1], [2, 3]], "maybe": [1, null], "list": [1, "two", 3.5], )"
                        R"("texts": ["a", "b"], "letter": "x"})"));
}

TEST_F(RunLogTest, WithoutAPathKeepsItsEntriesUntilItIsAsked) {
  RunLog log;
  log.log_event("a");
  log.log_event("b");
  folder_.write("run.jsonl", "what was there before\n");
  log.write(path_);
  EXPECT_EQ(lines().size(), 2U);
  log.log_event("c");
  log.write(path_);
  EXPECT_EQ(lines().size(), 3U);
  EXPECT_THROW(log.write(folder_.path()), WriteError);
  EXPECT_THROW(log.write("/dev/full"), WriteError);
}

TEST_F(RunLogTest, WithAPathIsNotWrittenElsewhere) {
  EXPECT_THROW(RunLog(path_).write(folder_.path() / "other"), InvalidArgument);
}

TEST_F(RunLogTest, KeepsBackWhatNeedNotLast) {
  {
    RunLog log(path_, Durability::none);
    log.log_event("a");
    EXPECT_THAT(content(), IsEmpty());
    log.flush();
    EXPECT_EQ(lines().size(), 1U);
    for (int i = 0; i < 2000; ++i) log.log_event("many");
    EXPECT_GT(content().size(), 64'000U);
  }
  EXPECT_EQ(lines().size(), 2001U);
}

TEST_F(RunLogTest, ReachesTheDisk) {
  RunLog log(path_, Durability::fsync);
  log.log_event("a");
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(RunLogTest, GoesOnWhereAnotherEnded) {
  RunLog(path_).log_event("a");
  std::ofstream(path_, std::ios::app) << R"({"ts": "2026-)";
  RunLog(path_).log_event("b");
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("\"a\""), HasSubstr("\"b\"")));
}

TEST_F(RunLogTest, AddsToNoFileOfAnotherKind) {
  folder_.write("run.jsonl", "a diary, without a line end");
  EXPECT_THROW(RunLog{path_}, FormatError);
  EXPECT_EQ(content(), "a diary, without a line end");
}

TEST_F(RunLogTest, GoesOnOnceThereIsRoomAgain) {
  RunLog log(path_);
  log.log_event("a");
  {
    const fakes::FileSizeLimit limit(content().size() + 20);
    EXPECT_THROW(log.log_event("b"), WriteError);
    { const RunLog::Phase phase = log.phase("c"); }  // must not throw
  }
  EXPECT_THAT(messages_, ElementsAre(HasSubstr("cannot write " + path_.string())));
  log.log_event("d");
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("\"a\""), HasSubstr("\"d\"")));
}

TEST_F(RunLogTest, DoesNotKeepAnEntryThatItRefused) {
  RunLog log("/dev/full", Durability::none);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      log.log_event("many");
    } catch (const WriteError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100) << "each that would be written is";
  EXPECT_LT(refused, 2000);
}

TEST_F(RunLogTest, SaysAtItsEndWhatItCouldNotWrite) {
  {
    RunLog log("/dev/full", Durability::none);
    log.log_event("a");
  }
  EXPECT_THAT(messages_, ElementsAre("cannot write /dev/full: No space left on device"));
}

TEST_F(RunLogTest, IsSharedByManyThreadsAndLogs) {
  {
    RunLog log(path_);
    RunLog other(path_);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 100; ++n) (n % 2 == 0 ? log : other).log_event("x");
      });
    }
  }
  EXPECT_THAT(lines(), testing::AllOf(testing::SizeIs(800),
                                      testing::Each(R"("type": "event", "event": "x"})")));
}

TEST_F(RunLogTest, DoesNothingInAForkedProcess) {
  {
    RunLog log(path_, Durability::none);
    log.log_event("parent");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      {
        RunLog copy = std::move(log);
        copy.log_event("child");
        copy.flush();
      }
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("parent")));
}

TEST_F(RunLogTest, WritesPointsUnderAGermanLocale) {
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // NOLINT(concurrency-mt-unsafe): one thread
  RunLog(path_).log_phase("p", Seconds(1.5));
  std::setlocale(LC_ALL, "C");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("\"seconds\": 1.5}")));
}

}  // namespace
}  // namespace wattle
