#include "history/history_options.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <set>
#include <string>

#include "history/save_run.hpp"
#include "parsed_line.hpp"
#include "run/mark.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr double kNow = 1'795'000'000.0;

double time_of(const std::string& text) { return parse_time(text, "--since", kNow); }

TEST(HistoryTime, IsAnAge) {
  EXPECT_EQ(time_of("90s"), kNow - 90.0);
  EXPECT_EQ(time_of("30min"), kNow - 1800.0);
  EXPECT_EQ(time_of("1.5h"), kNow - 5400.0);
  EXPECT_EQ(time_of("3d"), kNow - 259'200.0);
  EXPECT_EQ(time_of("2w"), kNow - 1'209'600.0);
}

TEST(HistoryTime, IsADateInTheLocalZone) {
  std::tm day{};
  day.tm_year = 126;
  day.tm_mon = 10;
  day.tm_mday = 21;
  day.tm_isdst = -1;
  const auto begin = static_cast<double>(std::mktime(&day));
  EXPECT_EQ(time_of("2026-11-21"), begin);
  EXPECT_EQ(time_of("2026-11-21 10:30"), begin + 37'800.0);
  EXPECT_EQ(time_of("2026-11-21T10:30:05"), begin + 37'805.0);
}

TEST(HistoryTime, IsNothingElse) {
  for (const char* text :
       {"", "yesterday", "3", "-3d", "2026-13-01", "2026-02-30", "2026-11-21x", "nand"}) {
    EXPECT_THROW((void)time_of(text), InvalidArgument) << text;
  }
}

TEST(HistoryOptions, KeepAFilter) {
  const auto options = options_of<RunHistoryOptions>(
      {"history", "--tag", "branch=main", "--tag", "cpu", "--limit", "7"});
  EXPECT_EQ(options.action, HistoryAction::list);
  EXPECT_EQ(options.filter.limit, 7U);
  EXPECT_EQ(options.filter.tags, (Tags{{"branch", "main"}, {"cpu", ""}}));
}

TEST(HistoryOptions, ThatAnActionWouldIgnoreAreRefused) {
  for (const char* action : {"rm", "show", "import"}) {
    EXPECT_EQ(options_of<RunHistoryOptions>({"history", action, "k3m9x2qa"}).words.size(), 1U);
    EXPECT_TRUE(answer_to({"history", action, "k3m9x2qa", "--since", "3d"}).is_error) << action;
  }
  EXPECT_TRUE(answer_to({"history", "rm", "k3m9x2qa", "--json"}).is_error);
  EXPECT_TRUE(options_of<RunHistoryOptions>({"history", "show", "k3m9x2qa", "--json"}).json);
}

TEST(MarkOptions, NameAPhase) {
  EXPECT_TRUE(answer_to({"mark"}).is_error);
  EXPECT_TRUE(answer_to({"mark", " \t "}).is_error);
  EXPECT_TRUE(answer_to({"mark", " \t ", "--end"}).is_error);
  EXPECT_EQ(options_of<MarkOptions>({"mark", "--end"}).mark.name, "") << "the last one";
}

HistoryFilter query(const std::string& text) { return parse_history_query(text, kNow); }

TEST(HistoryQuery, NamesWhatRunsHaveInCommon) {
  const HistoryFilter filter = query("tag:branch=main,cpu,command:make -j2\\,x,host:n1,since:1h");
  EXPECT_EQ(filter.tags, (Tags{{"branch", "main"}, {"cpu", ""}}));
  EXPECT_EQ(filter.command, "make -j2,x");
  EXPECT_EQ(filter.host, "n1");
  EXPECT_EQ(filter.since_unix_s, kNow - 3600.0);
  EXPECT_FALSE(filter.until_unix_s);
  EXPECT_EQ(query("command:tag:x").command, "tag:x");
}

TEST(HistoryQuery, IsKnownByItsStart) {
  EXPECT_TRUE(is_history_query("tag:v=1.2"));
  EXPECT_TRUE(is_history_query("command:./a.out"));
  EXPECT_FALSE(is_history_query("./tag:v"));
  EXPECT_FALSE(is_history_query("k3m9x2qa"));
}

TEST(HistoryQuery, RefusesWhatItCannotMean) {
  for (const char* text :
       {"tag:", "command:", "tag:a,", "host:a,host:b", "command:a,command:b", "since:soon"}) {
    EXPECT_THROW((void)query(text), InvalidArgument) << text;
  }
}

TEST(RunSaver, SavesThePowerOfARunThatHasOneValueOfIt) {
  std::set<pid_t> strangers;
  const RunSaver saver("run", {.save = false, .tags = {}}, strangers);
  Report report;
  EXPECT_FALSE(saver.run_of(report).series);
  report.energy.course.domains.push_back({"package_0", {{.mean = Watts(50.0)}}});
  EXPECT_TRUE(saver.run_of(report).series);
}

}  // namespace
}  // namespace wattle::app
