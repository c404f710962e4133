// Writers of a history that are killed: no run is lost that was reported as saved.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "fakes/temp_folder.hpp"
#include "runs/history.hpp"
#include "runs/spool.hpp"
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
        const SaveOutcome saved = save_or_spool(file, saved_run(facts_of(writer, number)), 20s);
        if (!saved.problem.empty() || ::write(ends[1], saved.id.data(), saved.id.size()) != 8) {
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

/// What it reported until its end.
std::vector<std::string> reported(const Writer& writer) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::read(writer.reports.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> ids;
  for (std::size_t begin = 0; begin + 8 <= text.size(); begin += 8) {
    ids.push_back(text.substr(begin, 8));
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
    const Writer writer = start_writer(file, kill, 1'000'000);
    ASSERT_GT(writer.pid, 0);
    // Some before the file is there, the others while it is written.
    if (kill % 4 != 0) {
      pollfd first_report{.fd = writer.reports.get(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&first_report, 1, 60'000), 1) << "it saves nothing";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    ::kill(writer.pid, SIGKILL);
    const std::vector<std::string> ids = reported(writer);
    ::waitpid(writer.pid, nullptr, 0);
    saved += ids.size();
    expect_all(file, ids);
    ASSERT_EQ(integrity_of(file), "ok") << "after " << kill;
  }
  EXPECT_GE(RunHistory(file).count({}), saved);
  EXPECT_GT(saved, 0U);
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
