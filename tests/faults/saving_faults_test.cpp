// The n-th call of a kind fails while runs are saved, wait, are taken in, imported, exported and
// shown: the command keeps its status, no run is lost without a word, no file is half.
#include <fstream>

#include "faults.hpp"

namespace wattle::integration {
namespace {

namespace fs = std::filesystem;

/// What was in a file before.
constexpr std::string_view kOld = "old\n";

/// With a state folder of its own for each run.
class SavingFaults : public Faults {
 protected:
  SavingFaults() { choice_ = Choice::tenth; }

  [[nodiscard]] Start at_home(Start start) const {
    start.environment["XDG_STATE_HOME"] = path("state").string();
    start.environment["XDG_CONFIG_HOME"] = path("config").string();
    start.environment["WATTLE_HISTORY"] = history().string();
    start.environment["WATTLE_SYSFS"] = path("none").string();
    return start;
  }
  [[nodiscard]] fs::path history() const { return path("state/history.db"); }
  [[nodiscard]] fs::path spool() const { return path("state/history.db.spool"); }
  [[nodiscard]] Start history_command(const Words& words) const {
    return at_home(wattle(Words{"history"} + words));
  }
  [[nodiscard]] Start saved_run() const {
    return at_home(wattle_run(Words{"--save", "--quiet"} + bare(), command()));
  }
  /// No sensors and no GPUs, which other sweeps look at.
  [[nodiscard]] Words bare() const {
    return {"--sysfs", path("none"), "--procfs", path("none"), "--nvml-library", path("none.so")};
  }

  void reset() override {
    Faults::reset();
    fs::remove_all(path("state"));
    if (fs::exists(path("prepared"))) {
      fs::copy(path("prepared"), path("state"), fs::copy_options::recursive);
    }
    for (const std::string& name : results_) std::ofstream(path(name)) << kOld;
  }
  /// What is in the state folder now is there again before each run.
  void keep_as_prepared() const { fs::rename(path("state"), path("prepared")); }
  /// Saves as many runs. With a history that is none, they wait.
  void save_runs(int count) const {
    for (int i = 0; i < count; ++i) {
      (void)run(at_home(wattle_run(Words{"--save", "--quiet"} + bare(), {"true"})));
    }
  }
  void put_no_history() const {
    fs::create_directories(path("state"));
    std::ofstream(history()) << "this is no history\n";
  }

  /// Runs that the history has, those that wait included.
  [[nodiscard]] std::size_t runs_now() const {
    const Outcome listed = run(history_command({"--json"}));
    if (listed.code() == kFailed && listed.err.find("no history yet") != std::string::npos) {
      return 0;
    }
    EXPECT_EQ(listed.code(), 0) << listed.err;
    return parse_json(listed.out)["runs"].size();
  }
  /// No file that is only there while another is written, no half record.
  void check_files() const {
    if (!fs::exists(path("state"))) return;
    for (const auto& file : fs::recursive_directory_iterator(path("state"))) {
      const std::string name = file.path().filename().string();
      const bool is_left = name.starts_with(".wattle-") && fault_.call != Call::remove;
      EXPECT_FALSE(is_left) << file.path();
      if (name.ends_with(".jsonl")) (void)whole_json(file.path());
    }
  }
  /// Each file has its old content, or a whole new one: then `end` is its end. With status 0 and
  /// nothing on stderr it is new.
  void check_results(const Outcome& outcome) const {
    for (const std::string& name : results_) {
      SCOPED_TRACE(name);
      const std::string text = content_of(path(name));
      if (text == kOld) {
        EXPECT_TRUE(is_mute() || outcome.code() != 0) << outcome.err;
        EXPECT_TRUE(is_mute() || outcome.err.find("wattle") != std::string::npos) << outcome.err;
        continue;
      }
      if (name.ends_with(".json")) {
        EXPECT_FALSE(parse_json(text).is_null());
      } else if (name.ends_with(".html")) {
        EXPECT_TRUE(text.ends_with("</html>\n")) << text.size();
      } else {
        EXPECT_TRUE(text.ends_with("\n")) << text;
        EXPECT_THAT(text, HasSubstr("true"));
      }
    }
    for (const auto& file : fs::directory_iterator(folder_.path())) {
      const std::string name = file.path().filename().string();
      EXPECT_FALSE(name.starts_with(".wattle-") && fault_.call != Call::remove) << name;
    }
  }
  /// A failure is explained, and has a status that the manual names.
  void check_reason(const Outcome& outcome) const {
    if (outcome.code() == 0 || is_mute()) return;
    constexpr int kNoComparison = 2;
    EXPECT_THAT(outcome.err, HasSubstr("wattle"));
    EXPECT_THAT(outcome.code(), AnyOf(1, kNoComparison, kFailed)) << outcome.err;
  }

  Words results_;  ///< files that are written
};

/// True if stderr explains why a run is not in a history.
bool explains_loss(const Outcome& outcome) {
  return outcome.err.find("wattle run: ") != std::string::npos ||
         outcome.err.find("out of memory") != std::string::npos;
}

TEST_F(SavingFaults, ARunIsSavedOrWaitsOrItsLossHasAReason) {
  sweep([&] { return run_to_end(saved_run()); },
        [&](const Outcome& outcome) {
          check_command(outcome);
          check_files();
          if (!fs::exists(path("ran")) || is_mute()) return;
          const std::size_t runs = runs_now();
          EXPECT_TRUE(runs == 1 || (runs == 0 && explains_loss(outcome))) << runs << " runs\n"
                                                                          << outcome.err;
        });
}

TEST_F(SavingFaults, ARunWaitsOrItsLossHasAReason) {
  put_no_history();
  keep_as_prepared();
  sweep([&] { return run_to_end(saved_run()); },
        [&](const Outcome& outcome) {
          check_command(outcome);
          check_files();
          if (!fs::exists(path("ran"))) return;
          EXPECT_TRUE(is_mute() || explains_loss(outcome)) << outcome.err;
          fs::remove(history());
          const std::size_t runs = runs_now();
          const bool waits = outcome.err.find("waits in") != std::string::npos;
          EXPECT_TRUE(is_mute() || runs == 1 || !waits) << outcome.err;
          EXPECT_LE(runs, 1U);
        });
}

TEST_F(SavingFaults, RunsThatWaitAreTakenInOrWaitOn) {
  constexpr std::size_t kRuns = 3;
  put_no_history();
  save_runs(kRuns);
  fs::remove(history());
  keep_as_prepared();
  const Start start = history_command({"--json"});
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_reason(outcome);
          check_files();
          if (outcome.code() == 0) {
            const std::size_t shown = parse_json(outcome.out)["runs"].size();
            EXPECT_TRUE(shown == kRuns || is_mute() ||
                        outcome.err.find("wattle history: ") != std::string::npos)
                << shown << outcome.err;
          }
          EXPECT_EQ(runs_now(), kRuns) << outcome.err;
        });
}

TEST_F(SavingFaults, AnExportHasWholeLinesAndEachRunOrAReason) {
  constexpr std::size_t kRuns = 3;
  save_runs(kRuns);
  keep_as_prepared();
  const Start start = history_command({"export"});
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_reason(outcome);
          std::istringstream lines(outcome.out);
          std::size_t count = 0;
          for (std::string line; std::getline(lines, line); ++count) {
            EXPECT_EQ(parse_json(line)["schema"], "wattle.saved/1");
          }
          EXPECT_TRUE(outcome.code() != 0 || count == kRuns) << count << outcome.err;
          EXPECT_EQ(runs_now(), kRuns) << outcome.err;
        });
}

TEST_F(SavingFaults, AnImportHasAllRunsOrAReason) {
  constexpr std::size_t kRuns = 3;
  save_runs(kRuns);
  folder_.write("runs.jsonl", run(history_command({"export"})).out);
  const Start start = history_command({"import", path("runs.jsonl")});
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_reason(outcome);
          check_files();
          EXPECT_TRUE(outcome.code() != 0 || runs_now() == kRuns) << outcome.err;
          EXPECT_EQ(run(start).code(), 0);
          EXPECT_EQ(runs_now(), kRuns) << outcome.err;
        });
}

TEST_F(SavingFaults, ARemovedRunIsGoneOrAReasonIsGiven) {
  save_runs(2);
  const Json runs = parse_json(run(history_command({"--json"})).out)["runs"];
  keep_as_prepared();
  const Start start = history_command({"rm", runs[0]["id"]});
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_reason(outcome);
          const std::size_t left = runs_now();
          EXPECT_GE(left, 1U);
          EXPECT_LE(left, outcome.code() == 0 ? 1U : 2U) << outcome.err;
        });
}

TEST_F(SavingFaults, AnExportedBenchmarkIsWholeOrAsItWas) {
  results_ = {"b.json", "b.csv", "b.md", "b.adoc", "b.org", "b.html"};
  const Start start = at_home(wattle(
      Words{"bench", "-r", "2", "-N", "--save", "--export-json", path("b.json"), "--export-csv",
            path("b.csv"), "--export-markdown", path("b.md"), "--export-asciidoc", path("b.adoc"),
            "--export-orgmode", path("b.org"), "--html", path("b.html"), "true"} +
      bare()));
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_reason(outcome);
          check_results(outcome);
          check_files();
        });
}

TEST_F(SavingFaults, APageOfARunIsWholeOrAsItWas) {
  results_ = {"r.json", "r.html"};
  const Start start = at_home(wattle_run(
      Words{"--quiet", "--json", path("r.json"), "--html", path("r.html")} + bare(), command()));
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_command(outcome);
          check_results(outcome);
        });
}

TEST_F(SavingFaults, APageOfRecordsIsWholeOrAsItWas) {
  for (const char* name : {"one.jsonl", "two.jsonl"}) {
    (void)run(at_home(wattle_run(Words{"--quiet", "--json", path(name)} + bare(), {"true"})));
  }
  results_ = {"c.html"};
  for (const char* name : {"report", "compare"}) {
    SCOPED_TRACE(name);
    const Start start =
        at_home(wattle({name, "--html", path("c.html"), path("one.jsonl"), path("two.jsonl")}));
    sweep([&] { return run_to_end(start); },
          [&](const Outcome& outcome) {
            check_reason(outcome);
            check_results(outcome);
          });
  }
}

}  // namespace
}  // namespace wattle::integration
