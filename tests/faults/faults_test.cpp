// The n-th call of a kind fails: no program crashes or hangs, a command keeps its status, no energy
// is wrong without a word, no file is half.
#include "faults.hpp"

#include <sys/resource.h>

#include "fakes/nvml/control.hpp"

namespace wattle::integration {
namespace {

TEST_F(Faults, RunKeepsTheCommandsStatus) {
  const Start start = wattle_run(surroundings() + Words{"--json", path("run.json"), "--series",
                                                        path("series.csv"), "--interval", "60"},
                                 command());
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_command(outcome);
          const Json json = whole_json(path("run.json"));
          if (!json.is_null()) check_energy(json["energy"]);
        });
}

TEST_F(Faults, RunWithGpusKeepsTheCommandsStatus) {
  const fakes::FakeNvml nvml("gpu A\npower step 0 100\ngpu B\npower step 0 50\n");
  Start start = wattle_run(Words{"--json", path("run.json"), "--nvml-library", nvml.library_path()},
                           command());
  start.environment = {{"WATTLE_FAKE_NVML", nvml.script_path()}};
  calls_ = {Call::clone, Call::mmap, Call::allocate};
  sweep([&] { return run_to_end(start); }, [&](const Outcome& outcome) { check_command(outcome); });
}

/// Runs beside two GPUs with so much address space (ulimit -v).
class LittleMemory : public Faults {
 protected:
  [[nodiscard]] Outcome run_within(rlim_t mebibytes) const {
    Start start = wattle_run(
        Words{"--json", path("run.json"), "--nvml-library", nvml_.library_path()}, command());
    start.environment = {{"WATTLE_FAKE_NVML", nvml_.script_path()}};
    start.prepare = [mebibytes] {
      const rlimit limit{.rlim_cur = mebibytes << 20U, .rlim_max = mebibytes << 20U};
      ::setrlimit(RLIMIT_AS, &limit);
    };
    return run(start);
  }

  fakes::FakeNvml nvml_{"gpu A\npower step 0 100\ngpu B\npower step 0 50\n"};
};

TEST_F(LittleMemory, IsEnoughToReadEverything) {
  constexpr rlim_t kMebibytes = 160;
  EXPECT_EQ(run_within(kMebibytes).code(), 7);
  EXPECT_EQ(whole_json(path("run.json"))["host"]["gpus"].size(), 2U);
}

TEST_F(LittleMemory, DoesNotKeepACommandFromRunning) {
  for (rlim_t mebibytes = 16; mebibytes <= 160; mebibytes += kAll ? 1 : 16) {
    SCOPED_TRACE(mebibytes);
    reset();
    const Outcome outcome = run_within(mebibytes);
    // With less the program itself cannot be loaded.
    if (outcome.err.find("error while loading shared libraries") != std::string::npos) continue;
    check_command(outcome);
    EXPECT_TRUE(std::filesystem::exists(path("ran"))) << outcome.err;
  }
}

/// Every row has as many columns as the header, and its line end.
void expect_whole_rows(const std::filesystem::path& file) {
  const std::string text = content_of(file);
  EXPECT_TRUE(text.empty() || text.ends_with('\n')) << file << "\n" << text;
  std::istringstream rows(text);
  std::string header;
  std::getline(rows, header);
  for (std::string row; std::getline(rows, row);) {
    EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(header, ',')) << row;
  }
}

TEST_F(Faults, MonitorKeepsTheCommandsStatusAndItsRowsWhole) {
  const Start start = wattle(Words{"monitor", path("out"), "--interval", "0.01"} + surroundings() +
                             Words{"--"} + command());
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          check_command(outcome);
          if (!std::filesystem::exists(path("out"))) return;
          for (const auto& file : std::filesystem::directory_iterator(path("out"))) {
            expect_whole_rows(file.path());
          }
          const Outcome summary = run(wattle({"summary", path("out"), "--json"}));
          if (summary.code() == 0) check_machine(parse_json(summary.out)["machine"]);
        });
}

/// Whatever is not known has a reason.
void expect_reasons(const Json& usage) {
  std::vector<std::string> explained;
  for (const Json& unknown : usage["unknown"]) {
    for (const Json& key : unknown["keys"]) explained.push_back(key);
  }
  const Json flat = usage.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    // An empty list is flattened to null.
    if (!value.is_null() || !usage.at(Json::json_pointer(pointer)).is_null()) continue;
    std::string key = pointer.substr(1);
    std::ranges::replace(key, '/', '.');
    EXPECT_TRUE(std::ranges::any_of(
        explained,
        [&](const std::string& begin) { return key == begin || key.starts_with(begin + "."); }))
        << key << "\n"
        << usage["unknown"];
  }
}

TEST_F(Faults, TrackWritesAWholeReportOrNone) {
  const Start start = wattle(Words{"track", "--pid", std::to_string(::getpid()), "--duration",
                                   "0.02", "--json", path("track.json")} +
                             surroundings());
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          const Json json = whole_json(path("track.json"));
          if (outcome.code() == 0) {
            ASSERT_FALSE(json.is_null());
            expect_reasons(json["resource_usage"]);
            const Json& rss = json["resource_usage"]["max_ram"]["main"]["total_rss"];
            EXPECT_TRUE(rss.is_null() || rss > 0.0) << rss;
            const Json& energy = json["energy"];
            EXPECT_TRUE(energy["domains"].size() == 4 || !energy["refused"].empty()) << energy;
          }
          if (outcome.code() != 0 && !is_mute()) {
            EXPECT_THAT(outcome.err, HasSubstr("wattle"));
          }
        });
}

TEST_F(Faults, SensorsNameWhatTheyDoNotShow) {
  const Start start = wattle(Words{"sensors", "--json"} + surroundings());
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          if (outcome.out.empty()) {
            EXPECT_NE(outcome.code(), 0);
            return;
          }
          const Json json = parse_json(outcome.out);
          std::size_t counters = 0;
          for (const char* domain : {"package_0", "package_1", "dram_0", "dram_1"}) {
            counters += outcome.out.find(domain) != std::string::npos ? 1U : 0U;
          }
          if (counters < 4) {
            EXPECT_THAT(outcome.out, HasSubstr("\"reason\"")) << json;
          }
        });
}

TEST_F(Faults, PowerEndsWithASignal) {
  const Start start = wattle(Words{"power", "--json", "--period", "0.01"} + surroundings());
  sweep([&] { return interrupted(plan_.applied_to(start)); },
        [&](const Outcome& outcome) { check_lines(outcome); });
}

TEST_F(Faults, SummaryIsWholeOrSaysSo) {
  const Start monitor = wattle(Words{"monitor", path("in"), "--interval", "0.01"} + surroundings() +
                               Words{"--", "sleep", "0.1"});
  ASSERT_EQ(run(monitor).code(), 0);
  const Start start = wattle({"summary", path("in"), "--json"});
  const std::string whole = run(start).out;
  sweep([&] { return run_to_end(start); },
        [&](const Outcome& outcome) {
          if (outcome.out != whole && !is_mute()) {
            EXPECT_THAT(outcome.err + outcome.out,
                        AnyOf(HasSubstr("wattle: "), HasSubstr("wattle summary: "),
                              HasSubstr("\"problem\": \"")));
          }
        });
}

}  // namespace
}  // namespace wattle::integration
