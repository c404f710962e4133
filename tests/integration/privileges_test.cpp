// A wattle with privileges that its user lacks uses them to open counters and for nothing else.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <vector>

#include "command.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int kNoMount = 99;

/// Copies of the programs where an ordinary user can execute them.
class Privileges : public CommandTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "giving a program privileges needs root";
    struct statvfs file_system {};
    if (::statvfs(folder_.path().c_str(), &file_system) == 0 &&
        (file_system.f_flag & ST_NOSUID) != 0) {
      GTEST_SKIP() << folder_.path() << " is mounted nosuid";
    }
    for (const fs::path& folder : {folder_.path(), tree_.root()}) ::chmod(folder.c_str(), 0755);
    fs::copy(wattle_program(), path("wattle"));
    fs::copy(child_program(), path("test_child"));
    fs::create_directory(path("out"));
    ::chmod(path("out").c_str(), 0777);
    // No machine has as many sockets: what is seen of it comes from this tree.
    tree_.add_zone("intel-rapl:0", "package-77");
  }

  void make_setuid() const { ASSERT_EQ(::chmod(path("wattle").c_str(), 04755), 0); }

  /// The copy of wattle, started by an ordinary user.
  [[nodiscard]] Start as_nobody(const Words& words) const {
    return {.command = Words{path("wattle")} + words,
            .environment = {{"WATTLE_SYSFS", tree_.system().sysfs}},
            .prepare = become_ordinary_user};
  }
  /// The same, in a namespace whose /sys is the tree.
  [[nodiscard]] Start as_nobody_in_tree(const Words& words) const {
    Start start = as_nobody(words);
    start.environment.clear();
    start.prepare = [this] {
      if (::unshare(CLONE_NEWNS) != 0 ||
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount(tree_.system().sysfs.c_str(), "/sys", nullptr, MS_BIND, nullptr) != 0) {
        ::_exit(kNoMount);
      }
      become_ordinary_user();
    };
    return start;
  }
  /// What a run in that namespace gives, and what the command finds itself to be.
  [[nodiscard]] std::string state_in_tree(Json& json) const {
    const Outcome outcome =
        run(as_nobody_in_tree({"run", "--json", path("out/run.json"), "--", path("test_child"),
                               "state", path("out/state")}));
    if (outcome.code() == kNoMount) return "";
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    json = parse_json(content_of(path("out/run.json")));
    return content_of(path("out/state"));
  }

  fakes::PowercapTree tree_;
};

Json names_of_domains(const Json& run) {
  Json names = Json::array();
  for (const Json& domain : run["energy"]["domains"]) names.push_back(domain["name"]);
  return names;
}

TEST_F(Privileges, OfTheUserAloneLetItChooseTheRoots) {
  EXPECT_THAT(run(as_nobody({"doctor", "--verbose"})).out, HasSubstr("package_77"));
}

TEST_F(Privileges, OfOthersDoNot) {
  make_setuid();
  EXPECT_THAT(run(as_nobody({"doctor", "--verbose"})).out, Not(HasSubstr("package_77")));
  for (const char* option : {"--sysfs", "--procfs"}) {
    const Outcome outcome = run(as_nobody({"run", option, "/tmp", "--", "true"}));
    EXPECT_EQ(outcome.code(), kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("cannot be used with a wattle that has privileges"));
  }
}

TEST_F(Privileges, OfTheUserAloneLetTheEnvironmentNameFilesAndSockets) {
  const char* const variables[] = {"WATTLE_SYSFS", "WATTLE_NVML_LIBRARY", "WATTLE_SOCK_PATH",
                                   "ZEUSD_SOCK_PATH"};
  const auto doctor_with = [&](const char* variable) {
    Start start = as_nobody({"doctor", "--verbose"});
    start.environment = {{"WATTLE_SOCK_PATH", std::nullopt}};
    start.environment[variable] = "/no/such/marker";
    return run(start).out;
  };
  for (const char* variable : variables) {
    EXPECT_THAT(doctor_with(variable), HasSubstr("/no/such/marker")) << variable;
  }
  make_setuid();
  for (const char* variable : variables) {
    EXPECT_THAT(doctor_with(variable), Not(HasSubstr("/no/such/marker"))) << variable;
  }
}

TEST_F(Privileges, OpenFilesOfTheUserAsTheUser) {
  make_setuid();
  EXPECT_EQ(run(as_nobody({"run", "-o", path("out/report"), "--", "true"})).code(), 0);
  struct stat status {};
  ASSERT_EQ(::stat(path("out/report").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kNobody);

  const Outcome outcome = run(as_nobody({"run", "-o", path("not-yours"), "--", "true"}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
  EXPECT_FALSE(fs::exists(path("not-yours")));
}

TEST_F(Privileges, AsASetuidProgramReadCountersAndAreGoneForTheCommand) {
  make_setuid();
  ::chmod((tree_.zone_path("intel-rapl:0") / "energy_uj").c_str(), 0400);
  Json json;
  const std::string state = state_in_tree(json);
  if (state.empty()) GTEST_SKIP() << "/sys cannot be replaced here";
  EXPECT_EQ(names_of_domains(json), Json{"package_77"});
  EXPECT_THAT(state, HasSubstr("Uid:\t65534\t65534\t65534\t65534\n"));
  EXPECT_THAT(state, HasSubstr("Gid:\t65534\t65534\t65534\t65534\n"));
  EXPECT_THAT(state, HasSubstr("CapPrm:\t0000000000000000\n"));
  EXPECT_THAT(state, HasSubstr("CapEff:\t0000000000000000\n"));
}

TEST_F(Privileges, AsAFileCapabilityReadCountersAndAreGoneForTheCommand) {
  const Outcome set = run({.command = {"setcap", "cap_dac_read_search+ep", path("wattle")}});
  if (set.code() != 0) GTEST_SKIP() << "setcap does not work here: " << set.err;
  ::chmod((tree_.zone_path("intel-rapl:0") / "energy_uj").c_str(), 0400);
  Json json;
  const std::string state = state_in_tree(json);
  if (state.empty()) GTEST_SKIP() << "/sys cannot be replaced here";
  EXPECT_EQ(names_of_domains(json), Json{"package_77"});
  EXPECT_THAT(state, HasSubstr("CapPrm:\t0000000000000000\n"));
  EXPECT_THAT(state, HasSubstr("CapEff:\t0000000000000000\n"));
}

TEST_F(Privileges, ReadNothingThatTheirUserKeptOfSensors) {
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  fs::create_directories(path("state/wattle/updates"));
  std::ofstream(path("state/wattle/updates") / (std::string(host.data()) + ".json"))
      << R"({"schema":"wattle.updates/1","sensors":[{"sensor":"powercap energy package",)"
      << R"("mean_s":0.5,"spread_s":0.01,"p99_s":0.6}]})";
  // What a run believes of how often its counter is renewed; null where /sys cannot be replaced.
  const auto believed = [&]() -> Json {
    Start start =
        as_nobody_in_tree({"run", "--quiet", "--json", path("out/run.json"), "--", "sleep", "0.1"});
    start.environment = {{"XDG_STATE_HOME", path("state").string()}};
    const Outcome outcome = run(start);
    if (outcome.code() == kNoMount) return {};
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    const Json json = parse_json(content_of(path("out/run.json")));
    EXPECT_EQ(names_of_domains(json), Json{"package_77"});
    return json["energy"]["domains"][0]["update_s"];
  };
  const Json kept = believed();
  if (kept.is_null()) GTEST_SKIP() << "/sys cannot be replaced here";
  EXPECT_EQ(kept, 0.5) << "without privileges it is used";
  make_setuid();
  EXPECT_NE(believed(), 0.5);
}

TEST_F(Privileges, WithoutAnyCountersOfRootAreRefusedWithTheRemedy) {
  ::chmod((tree_.zone_path("intel-rapl:0") / "energy_uj").c_str(), 0400);
  const Outcome outcome = run(as_nobody({"doctor", "--verbose"}));
  constexpr int kNothingReadable = 2;
  EXPECT_EQ(outcome.code(), kNothingReadable);
  EXPECT_THAT(outcome.out, HasSubstr("energy_uj is readable by root only"));
  EXPECT_THAT(outcome.out, HasSubstr("mode 0400, owner 0"));
  EXPECT_THAT(outcome.out, HasSubstr("wattle doctor --fix cpu"));
}

TEST_F(Privileges, DoNotLetReportsBeWrittenWithTheFileCapability) {
  const Outcome set = run({.command = {"setcap", "cap_dac_override+ep", path("wattle")}});
  if (set.code() != 0) GTEST_SKIP() << "setcap does not work here: " << set.err;
  EXPECT_EQ(run(as_nobody({"run", "-o", path("not-yours"), "--", "true"})).code(), kFailed);
  EXPECT_FALSE(fs::exists(path("not-yours")));
}

/// A sub-command that is given a file or a folder which root alone may read.
struct Reader {
  const char* command;
  Words words;
};

TEST_F(Privileges, LetNoSubCommandReadWhatItsUserMayNot) {
  const Outcome set = run({.command = {"setcap", "cap_dac_read_search+ep", path("wattle")}});
  if (set.code() != 0) GTEST_SKIP() << "setcap does not work here: " << set.err;
  const fs::path secret = path("secret");
  fs::create_directory(secret);
  std::ofstream(secret / "hw_metrics.csv")
      << "timestamp,index,uuid,utilization.gpu [%]\n2026/01/01 00:00:00.000,0,GPU-marker,77 %\n";
  std::ofstream(secret / "usage.json") << "marker";
  std::ofstream(secret / "token") << "marker";
  ::chmod(secret.c_str(), 0700);
  const std::string folder = secret.string();
  const std::vector<Reader> readers = {
      {"run", {"--series", folder + "/usage.json", "--append", "--", "true"}},
      {"sensors", {}},  // names no file
      {"doctor", {}},
      {"power", {"--help"}},
      {"energy", {"--help"}},
      {"track", {"--recover", folder + "/usage.json"}},
      {"monitor", {folder, "--", "true"}},
      {"summary", {folder}},
      {"stream", {"localhost:1", "--token-file", folder + "/token"}}};
  for (const Reader& reader : readers) {
    const Outcome outcome = run(as_nobody(Words{reader.command} + reader.words));
    EXPECT_THAT(outcome.out + outcome.err, AllOf(Not(HasSubstr("marker")), Not(HasSubstr("77.0"))))
        << reader.command;
    if (reader.words.empty() || reader.words.front() == "--help") continue;
    EXPECT_NE(outcome.code(), 0) << reader.command << outcome.out;
  }
}

/// The lines of /proc/PID/status about rights; of a program that has ended too, until it is waited
/// for.
std::string rights_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string rights;
  for (std::string line; std::getline(status, line);) {
    for (const char* key : {"State:", "Uid:", "Gid:", "CapPrm:", "CapEff:"}) {
      if (line.starts_with(key)) rights += line + "\n";
    }
  }
  return rights;
}

bool are_of_nobody(const std::string& rights) {
  return rights.ends_with(
      "Uid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\n"
      "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n");
}

TEST_F(Privileges, AreGivenUpByEachSubCommand) {
  make_setuid();
  fs::create_directory(path("rows"));
  const std::string folder = path("rows").string();
  const std::string self = std::to_string(::getpid());
  const std::vector<Words> each = {{"run", "--", "sleep", "60"},
                                   {"sensors"},
                                   {"doctor"},
                                   {"doctor", "--fix", "cpu"},
                                   {"power"},
                                   {"energy"},
                                   {"track", "--pid", self},
                                   {"monitor", path("out/rows"), "--", "sleep", "60"},
                                   {"monitor", path("out/more")},
                                   {"summary", folder},
                                   {"stream", "localhost:1"},
                                   {"--help"}};
  for (const Words& words : each) {
    const Process process(as_nobody(words));
    std::string rights;
    EXPECT_TRUE(eventually([&] {
      rights = rights_of(process.pid());
      const bool has_ended = rights.find("(zombie)") != std::string::npos;
      return has_ended || are_of_nobody(rights);
    }));
    EXPECT_TRUE(are_of_nobody(rights)) << words.front() << " " << rights;
  }
}

TEST_F(Privileges, OfTheCommandEndTheTaskClock) {
  // A program that its user may execute and not read: the kernel shows nobody what it does.
  fs::copy("/bin/sh", path("sh"));
  ASSERT_EQ(::chmod(path("sh").c_str(), 0711), 0);
  const char* const loop = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
  const Outcome outcome = run(as_nobody(
      {"run", "--task-clock", "--json", path("out/run.json"), "--", path("sh"), "-c", loop}));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json usage = parse_json(content_of(path("out/run.json")))["resource_usage"];
  EXPECT_GT(usage["cpu_s"], 0.1);
  if (usage["cpu_task_clock_s"].is_null()) GTEST_SKIP() << usage["unknown"];
  ASSERT_EQ(usage["mismatches"].size(), 1U) << usage;
  EXPECT_EQ(usage["mismatches"][0]["keys"], Json::array({"cpu_task_clock_s"}));
}

}  // namespace
}  // namespace wattle::integration
