// GPUs that the administrator's commands set in place of the driver (--gpu-command-overrides).
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "daemon.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kGpusForCommands =
    "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\nlimit 200 300\nleast_limit 100\nclock_range 210 1980 "
    "800 1593\n"
    "gpu NVIDIA A40\nuuid GPU-bbbb\nlimit 300 300\nleast_limit 150\nclock_range 210 1740 405 "
    "7251\n";

class DaemonCommands : public DaemonTest {
 protected:
  /// Commands that write down what they are started for.
  [[nodiscard]] std::string recorder() const {
    return table("set_power_limit", "limit {gpu_id} {power_limit_mw} {power_limit_w}") +
           table("set_persistence_mode", "mode {gpu_id} {enabled}") +
           table("set_gpu_locked_clocks", "lock {gpu_id} {min_clock_mhz} {max_clock_mhz}") +
           table("reset_gpu_locked_clocks", "free {gpu_id}") +
           table("reset_locked_clocks", "free_both {gpu_id}");
  }
  [[nodiscard]] std::string table(const std::string& operation, const std::string& line) const {
    return "[" + operation + "]\ncommands = [\"/bin/sh -c 'echo " + line + " >>" +
           path("ran").string() + "'\"]\n";
  }
  [[nodiscard]] std::string overrides(const std::string& text, mode_t mode = 0644) const {
    const std::string file = path("overrides.toml").string();
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
    return file;
  }
  void serve_commands(const std::string& text, const Words& options = {}) {
    if (!nvml_) nvml_ = std::make_unique<fakes::FakeNvml>(kGpusForCommands);
    serve(Words{"--enable", "gpu-read,gpu-control", "--settings-journal", path("settings").string(),
                "--gpu-command-overrides", overrides(text)} +
              options,
          "");
  }
  [[nodiscard]] HttpAnswer post(std::string_view target) const {
    return client().ask("POST", target, "Content-Length: 0\r\n");
  }
  /// What the commands have written.
  [[nodiscard]] std::string ran() const {
    return std::filesystem::exists(path("ran")) ? content_of(path("ran")) : "";
  }
  /// What the driver was asked to set.
  [[nodiscard]] std::string driver_was_set() const {
    const std::string file = nvml_->script_path() + ".set";
    return std::filesystem::exists(file) ? content_of(file) : "";
  }
  void end() {
    daemon_->send(SIGTERM);
    EXPECT_EQ(daemon_->wait().code(), 0) << log();
  }

  static constexpr const char* kLimit =
      "/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=150999";
};

TEST_F(DaemonCommands, SetInPlaceOfTheDriver) {
  serve_commands(recorder(), {"--keep-settings"});
  for (const std::string_view target :
       {"set_power_limit?gpu_ids=1&block=true&power_limit_mw=150999",
        "set_persistence_mode?gpu_ids=0&block=true&enabled=true",
        "set_gpu_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=210&max_clock_mhz=1410",
        "reset_gpu_locked_clocks?gpu_ids=0&block=true",
        "reset_locked_clocks?gpu_ids=1&block=true"}) {
    const HttpAnswer answer = post("/gpu/" + std::string(target));
    EXPECT_EQ(answer.status, 200) << target << answer.body;
  }
  EXPECT_EQ(ran(), "limit 1 150999 150\nmode 0 1\nlock 0 210 1410\nfree 0\nfree_both 1\n");
  EXPECT_THAT(driver_was_set(), IsEmpty());
  end();
  EXPECT_TRUE(logs(AllOf(HasSubstr("set GPUs: set_persistence_mode, set_power_limit, "
                                   "set_gpu_locked_clocks, reset_gpu_locked_clocks, "
                                   "reset_locked_clocks"),
                         HasSubstr("set GPU 1: power limit 150999 mW"))));
}

TEST_F(DaemonCommands, LeaveTheOtherOperationsToTheDriver) {
  serve_commands(table("set_power_limit", "limit {gpu_id}"), {"--keep-settings"});
  EXPECT_EQ(post("/gpu/set_persistence_mode?gpu_ids=0&block=true&enabled=true").status, 200);
  EXPECT_EQ(post("/gpu/reset_locked_clocks?gpu_ids=0&block=true").status, 200);
  EXPECT_THAT(ran(), IsEmpty());
  EXPECT_EQ(driver_was_set(), "0 persistence 1\n0 gpu_clocks reset\n0 memory_clocks reset\n");
}

TEST_F(DaemonCommands, AreNotRunForAValueOutsideOfTheRange) {
  serve_commands(recorder());
  const HttpAnswer answer = post("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=99999");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("outside of 100000 to 300000 mW"));
  EXPECT_THAT(ran(), IsEmpty());
}

TEST_F(DaemonCommands, ThatFailAreAFaultOfTheGpuWithWhatTheyPrinted) {
  serve_commands("[set_power_limit]\ncommands = [\"/bin/sh -c 'echo no rights >&2; exit 4'\"]\n");
  const HttpAnswer answer = post(kLimit);
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(parse_json(answer.body)["errors"]["0"].get<std::string>(),
              AllOf(testing::StartsWith("Override command failed: command '/bin/sh -c "),
                    HasSubstr("exited with code 4"), HasSubstr("stderr: no rights")));
  end();
  EXPECT_TRUE(logs(HasSubstr("could not set GPU 0: power limit 150999 mW: ")));
  EXPECT_THAT(log(), Not(HasSubstr("restore"))) << "nothing was set";
}

// The first command runs until the file "go" is there.
TEST_F(DaemonCommands, LetTheGpuBeReadAndAtTheEndAreNotRunForWhatStillWaits) {
  serve_commands("[set_power_limit]\ncommands = [\"/bin/sh -c 'echo {power_limit_mw} >>" +
                 path("ran").string() + "; while ! [ -e " + path("go").string() +
                 " ]; do sleep 0.01; done'\"]\n");
  HttpClient sets = client();
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    requests += "POST /gpu/set_power_limit?gpu_ids=0&block=false&power_limit_mw=" +
                std::to_string(150'000 + i) +
                " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
  }
  sets.send(requests);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sets.read_answer().status, 200);
  ASSERT_TRUE(eventually([&] { return ran() == "150000\n"; }));
  EXPECT_EQ(get("/gpu/get_power?gpu_ids=0").status, 200);
  EXPECT_EQ(get("/gpu/get_power_limit?gpu_ids=0").status, 200);
  HttpClient waits = client();
  waits.send(std::string("POST ") + kLimit +
             " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(get("/gpu/get_power?gpu_ids=0").status, 200) << "the other request has come, too";
  daemon_->send(SIGTERM);
  const HttpAnswer refused = waits.read_answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.head, HasSubstr("\r\nRetry-After: "));
  EXPECT_THAT(refused.body, HasSubstr("the daemon is stopping"));
  std::ofstream(path("go")).close();
  EXPECT_EQ(daemon_->wait().code(), 0) << log();
  EXPECT_EQ(ran(), "150000\n200000\n");
  EXPECT_FALSE(std::filesystem::exists(path("settings")));
}

TEST_F(DaemonCommands, ThatTakeTooLongAreKilled) {
  serve_commands("[set_power_limit]\ncommands = [\"sleep 1000\"]\ntimeout_s = 1\n");
  const HttpAnswer answer = post(kLimit);
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, HasSubstr("timed out after 1s"));
}

TEST_F(DaemonCommands, PutBackAtTheEndWhatTheyHaveSet) {
  serve_commands(recorder());
  EXPECT_EQ(post(kLimit).status, 200);
  EXPECT_EQ(post("/gpu/set_gpu_locked_clocks?gpu_ids=0&block=true&min_clock_mhz=210&"
                 "max_clock_mhz=1410")
                .status,
            200);
  end();
  EXPECT_THAT(ran(), testing::EndsWith("limit 0 200000 200\nfree 0\n"));
  EXPECT_THAT(driver_was_set(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(path("settings")));
}

TEST_F(DaemonCommands, PutBackWhatADaemonThatWasKilledHadSet) {
  serve_commands(recorder());
  EXPECT_EQ(post(kLimit).status, 200);
  daemon_->send(SIGKILL);
  (void)daemon_->wait();
  serve_commands(recorder());
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(path("settings")); })) << log();
  EXPECT_EQ(ran(), "limit 0 150999 150\nlimit 0 200000 200\n");
}

TEST_F(DaemonCommands, RunAsRootWhereTheDaemonHasGivenItUp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives up root";
  if (kSanitized) GTEST_SKIP() << "the sanitizer looks for leaks by means that are forbidden";
  ::chmod(folder_.path().c_str(), 0755);
  serve_commands(table("set_power_limit", "limit $(id -u)"),
                 {"--user", "nobody", "--keep-settings"});
  EXPECT_EQ(post(kLimit).status, 200) << log();
  const std::string status = content_of("/proc/" + std::to_string(daemon_->pid()) + "/status");
  EXPECT_THAT(status, HasSubstr("\nUid:\t65534\t"));
  EXPECT_EQ(ran(), "limit 0\n");
}

TEST_F(DaemonCommands, HaveNoEffectWithoutControlAndTheLogSaysSo) {
  serve({"--gpu-command-overrides", overrides("nonsense")});
  EXPECT_EQ(post(kLimit).status, 404);
  EXPECT_TRUE(
      logs(HasSubstr("--gpu-command-overrides has no effect: --enable gpu-control is not given")));
}

TEST_F(DaemonCommands, ThatTheGroupMayChangeAreWarnedAbout) {
  nvml_ = std::make_unique<fakes::FakeNvml>(kGpusForCommands);
  serve({"--enable", "gpu-control", "--keep-settings", "--settings-journal",
         path("settings").string(), "--gpu-command-overrides", overrides(recorder(), 0664)},
        "");
  EXPECT_TRUE(
      logs(HasSubstr("the group of " + path("overrides.toml").string() + " can change it")));
}

TEST_F(DaemonCommands, ThatEveryUserMayChangeOrThatMeanNothingRefuseTheStart) {
  const auto why_refused = [&](const std::string& file) {
    std::ofstream(path("log")).close();
    const Outcome outcome = run(wattled({"serve", "--socket-path", socket(), "--enable",
                                         "gpu-control", "--gpu-command-overrides", file}));
    EXPECT_EQ(outcome.code(), 1);
    EXPECT_FALSE(std::filesystem::exists(socket()));
    return log();
  };
  EXPECT_THAT(why_refused(overrides(recorder(), 0666)), HasSubstr("every user can change it"));
  EXPECT_THAT(why_refused(overrides("[set_power_limit]\ncommands = [\"x {enabled}\"]\n")),
              HasSubstr("set_power_limit has no value '{enabled}'"));
  EXPECT_THAT(why_refused(path("nothing").string()), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace wattle::integration
