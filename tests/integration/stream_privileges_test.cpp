// A `wattle stream` with privileges that its user lacks: it gives them up before it reads or opens
// anything.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "command.hpp"

namespace wattle::integration {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Copies of the programs where an ordinary user can execute them.
class StreamPrivileges : public CommandTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "giving a program privileges needs root";
    struct statvfs file_system {};
    if (::statvfs(folder_.path().c_str(), &file_system) == 0 &&
        (file_system.f_flag & ST_NOSUID) != 0) {
      GTEST_SKIP() << folder_.path() << " is mounted nosuid";
    }
    ::chmod(folder_.path().c_str(), 0755);
    const fs::path built = fs::path(wattle_program()).parent_path();
    for (const char* program : {"wattle", "wattle-stream"}) {
      fs::copy(built / program, path(program));
    }
    fs::create_directory(path("out"));
    ::chmod(path("out").c_str(), 0777);
  }

  void make_setuid(const std::string& program) const {
    ASSERT_EQ(::chmod(path(program).c_str(), 04755), 0);
  }
  /// Started by an ordinary user, with one more variable.
  [[nodiscard]] Outcome run_as_nobody(const Words& words, const std::string& variable = "WATTLE_X",
                                      const std::string& value = "") const {
    return run({.command = Words{path(words.front())} + Words(words.begin() + 1, words.end()),
                .environment = {{variable, value}},
                .prepare = become_ordinary_user});
  }
};

TEST_F(StreamPrivileges, AreGoneBeforeATokenIsRead) {
  folder_.write("token", "hidden");
  ::chmod(path("token").c_str(), 0600);
  const Words options = {"--token-file", path("token"), path("nobody.sock")};
  for (const Words& program : {Words{"wattle", "stream"}, Words{"wattle-stream"}}) {
    make_setuid(program.front());
    const Outcome outcome = run_as_nobody(program + options);
    EXPECT_EQ(outcome.code(), kUsage);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("Permission denied"), Not(HasSubstr("hidden"))));
  }
}

TEST_F(StreamPrivileges, DoNotLetTheEnvironmentNameAServer) {
  const char* const variables[] = {"ZEUSD_SOCK_PATH", "ZEUSD_HOST_PORT"};
  for (const char* variable : variables) {
    EXPECT_THAT(run_as_nobody({"wattle-stream"}, variable, "marker.invalid").err,
                HasSubstr("marker.invalid"))
        << "of the user alone they do";
  }
  make_setuid("wattle-stream");
  for (const char* variable : variables) {
    EXPECT_THAT(run_as_nobody({"wattle-stream"}, variable, "marker.invalid").err,
                Not(HasSubstr("marker.invalid")))
        << variable;
  }
}

// libcurl opens the file that this variable names, whoever set it.
TEST_F(StreamPrivileges, DoNotLetTheEnvironmentNameAFileForKeys) {
  const std::string server = path("nobody.sock");
  (void)run_as_nobody({"wattle-stream", server}, "SSLKEYLOGFILE", path("out/of-user"));
  if (!fs::exists(path("out/of-user"))) GTEST_SKIP() << "this libcurl logs no keys";
  make_setuid("wattle-stream");
  (void)run_as_nobody({"wattle-stream", server}, "SSLKEYLOGFILE", path("of-root"));
  EXPECT_FALSE(fs::exists(path("of-root")));
  (void)run_as_nobody({"wattle-stream", server}, "SSLKEYLOGFILE", path("out/keys"));
  EXPECT_FALSE(fs::exists(path("out/keys"))) << "not as the user either";
}

}  // namespace
}  // namespace wattle::integration
