// Writers of a history that are killed: no run is lost that was reported as saved.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/files/fd.hpp"
#include "fakes/temp_folder.hpp"
#include "runs/history/history.hpp"
#include "runs/history/spool.hpp"
#include "sample_runs.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

/// How often a writer is killed.
int kills() {
  const char* const number = std::getenv("HISTORY_KILLS");
  return number != nullptr ? std::atoi(number) : 20;
}

/// A process that saves runs, each different, and reports each ID once it is saved.
struct Writer {
  pid_t pid = -1;
  Fd reports;
};

RecordFacts facts_of(int writer, int number) {
  return {.command = {"work", std::to_string(writer), std::to_string(number)},
          .started_unix_s = 1'763'690'000.0 + writer + 1e-3 * number};
}

/// `most`: runs that it saves before it ends by itself.
Writer start_writer(const std::filesystem::path& file, int writer, int most) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    try {
      for (int number = 0; number < most; ++number) {
        // Each by itself, as `wattle run --save` does.
        const SavedRun run = saved_run(facts_of(writer, number));
        const SaveOutcome saved = save_or_spool(file, {&run, 1}, 20s);
        if (!saved.problem.empty() || ::write(ends[1], saved.ids.front().data(), 8) != 8) {
          ::_exit(2);
        }
      }
    } catch (...) {
      ::_exit(3);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  return {pid, Fd(ends[0])};
}

/// What it reports until its end, but at most `most`.
std::vector<std::string> reported(const Writer& writer, std::size_t most = 1'000'000) {
  std::vector<std::string> ids;
  std::string id(8, ' ');  // a pipe takes so few bytes as a whole
  while (ids.size() < most && ::read(writer.reports.get(), id.data(), id.size()) == 8) {
    ids.push_back(id);
  }
  return ids;
}

std::string integrity_of(const std::filesystem::path& file) {
  std::string answer;
  SqliteDatabase database(file.string());
  EXPECT_EQ(database.query("PRAGMA integrity_check", {},
                           [&](const SqlRow& row) { answer += row.text(0); }),
            0);
  return answer;
}

void expect_all(const std::filesystem::path& file, const std::vector<std::string>& ids) {
  RunHistory history(file);
  for (const std::string& id : ids) EXPECT_NO_THROW((void)history.get(id)) << id;
}

TEST(KilledWriters, LoseNothingThatWasReportedAsSaved) {
  const fakes::TempFolder folder;
  const auto file = folder.path() / "history.db";
  std::mt19937 random(20261125);
  std::size_t saved = 0;
  for (int kill = 0; kill < kills(); ++kill) {
    const Writer writer = start_writer(file, 2 * kill, 1'000'000);
    const Writer other = start_writer(file, 2 * kill + 1, 2);
    ASSERT_GT(writer.pid, 0);
    // Some before the file is there, most while it is written.
    std::vector<std::string> ids = reported(writer, random() % 4);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    ::kill(writer.pid, SIGKILL);
    std::ranges::move(reported(writer), std::back_inserter(ids));
    ::waitpid(writer.pid, nullptr, 0);
    expect_all(file, ids);
    const std::vector<std::string> all_of_other = reported(other);
    ::waitpid(other.pid, nullptr, 0);
    EXPECT_EQ(all_of_other.size(), 2U) << "a killed writer keeps nobody from saving";
    expect_all(file, all_of_other);
    saved += ids.size() + 2;
    ASSERT_EQ(integrity_of(file), "ok") << "after " << kill;
  }
  EXPECT_GE(RunHistory(file).count({}), saved);
  EXPECT_GT(saved, 2U * static_cast<std::size_t>(kills()));
}

TEST(EightWriters, LoseNothing) {
  constexpr int kWriters = 8;
  const int each = kills() / 4 + 3;
  const fakes::TempFolder folder;
  const auto file = folder.path() / "history.db";
  std::vector<Writer> writers;
  for (int i = 0; i < kWriters; ++i) writers.push_back(start_writer(file, i, each));
  for (const Writer& writer : writers) {
    const std::vector<std::string> ids = reported(writer);
    int status = -1;
    ::waitpid(writer.pid, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(each));
    expect_all(file, ids);
  }
  EXPECT_EQ(RunHistory(file).count({}), static_cast<std::size_t>(kWriters * each));
  EXPECT_EQ(integrity_of(file), "ok");
}

}  // namespace
}  // namespace wattle
