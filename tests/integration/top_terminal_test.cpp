// `wattle top` and its terminal: it is given back, whatever happens.
#include <signal.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <random>

#include "base/files/file.hpp"
#include "top_command.hpp"

namespace wattle::integration {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// The first process that `parent` has started; 0 where there is none.
pid_t child_of(pid_t parent) {
  const std::string number = std::to_string(parent);
  std::ifstream file("/proc/" + number + "/task/" + number + "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

/// Also if its parent has not waited for it yet.
bool has_ended(pid_t process) {
  const auto stat = read_file("/proc/" + std::to_string(process) + "/stat");
  return !stat || stat->find(") Z ") != std::string::npos;
}

TEST_F(TopCommand, GivesTheTerminalBackAtEveryEnd) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  for (const char* end : {"q", "Q", "\x03", "\x04", "INT", "TERM", "HUP", "QUIT", "\x1c", "USR1"}) {
    Pty terminal;
    terminal.resize(80, 24);
    const termios before = terminal.settings();
    Process process(on(terminal, replay()));
    ASSERT_TRUE(terminal.shows("python")) << end;
    EXPECT_EQ(terminal.settings().c_lflag & (ICANON | ECHO), 0U);
    const std::string_view name = end;
    const std::map<std::string_view, int> signals = {
        {"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"QUIT", SIGQUIT}, {"USR1", SIGUSR1}};
    if (name.size() == 1) {
      terminal.type(end);
    } else {
      process.send(signals.at(name));
    }
    const Outcome outcome = process.wait();
    if (name == "QUIT" || name == "\x1c") {
      EXPECT_EQ(outcome.signal(), SIGQUIT);
    } else if (name == "USR1") {
      EXPECT_EQ(outcome.signal(), SIGUSR1);
    } else {
      EXPECT_EQ(outcome.code(), 0) << end;
    }
    terminal.take();
    EXPECT_EQ(terminal.settings().c_lflag, before.c_lflag) << end;
    EXPECT_EQ(terminal.settings().c_iflag, before.c_iflag) << end;
    EXPECT_THAT(terminal.text(), EndsWith("\x1b[?1006l\x1b[?1000l\x1b[?7h\x1b[?25h\x1b[?1049l"));
  }
}

TEST_F(TopCommand, GivesTheTerminalBackWhileItIsStopped) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  terminal.resize(80, 24);
  Start start = replay();
  // A shell with job control: what it starts can be stopped, and continued.
  start.command = {"bash", "-mc", "\"$@\"; echo now stopped; fg; echo now ended", "bash"};
  start.command = start.command + replay().command;
  Process process(on(terminal, start));
  ASSERT_TRUE(terminal.shows("python"));
  terminal.type("\x1a");
  ASSERT_TRUE(terminal.shows("now stopped"));
  const std::size_t stopped = terminal.text().find("now stopped");
  EXPECT_NE(terminal.text().rfind("\x1b[?1049l", stopped), std::string::npos);
  ASSERT_TRUE(eventually([&] {
    terminal.take();
    return terminal.text().find("python", stopped) != std::string::npos;
  }));
  EXPECT_NE(terminal.text().find("\x1b[?1049h", stopped), std::string::npos);
  terminal.type("q");
  EXPECT_TRUE(terminal.shows("now ended"));
  (void)process.wait();
}

TEST_F(TopCommand, CanBeKilledWhileItIsStopped) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  for (const int stop : {SIGTSTP, SIGSTOP, SIGTTOU}) {
    Pty terminal;
    terminal.resize(80, 24);
    Start start = replay();
    // A user's shell takes the terminal back. It must not set it for editing, to be compared.
    start.command = {"bash", "--norc", "--noprofile", "--noediting", "-i"};
    start.environment["PS1"] = "prompt> ";
    Process shell(on(terminal, start));
    ASSERT_TRUE(terminal.shows("prompt> "));
    const termios before = terminal.settings();
    std::string line;
    for (const std::string& word : replay().command) line += word + " ";
    terminal.type(line + "\n");
    ASSERT_TRUE(terminal.shows("python"));
    const pid_t top = child_of(shell.pid());
    ASSERT_GT(top, 0);
    ::kill(top, stop);
    ASSERT_TRUE(terminal.shows("Stopped")) << stop;
    terminal.type("kill %1\n");  // TERM, then CONT
    EXPECT_TRUE(eventually([&] {
      terminal.take();
      return has_ended(top);
    })) << stop;
    terminal.take();
    EXPECT_EQ(terminal.settings().c_lflag, before.c_lflag) << stop;
    EXPECT_GT(terminal.text().rfind("\x1b[?1049l"), terminal.text().rfind("\x1b[?1049h")) << stop;
    terminal.type("exit\nexit\n");
    (void)shell.wait();
  }
}

TEST_F(TopCommand, SaysThatNoShellCanBringItBack) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  Start start = replay();
  // The shell that started it in the background ends, the one that has the terminal does not.
  start.command =
      Words{"bash", "-c",
            R"(bash -mc 'sh -c "\"\$@\"; echo status \$?" sh "$@" &' bash "$@"; read end)",
            "bash"} +
      replay().command;
  Process process(on(terminal, start));
  EXPECT_TRUE(terminal.shows("no shell is left to bring this one back"));
  EXPECT_TRUE(terminal.shows("status 125"));
  EXPECT_THAT(terminal.text(), Not(HasSubstr("\x1b[?1049h")));
  terminal.type("\n");
  (void)process.wait();
}

TEST_F(TopCommand, ChangesTheSpeedOfTheWaitThatIsGoingOn) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  terminal.resize(80, 24);
  Start start = wattle({"top", "--replay", replayed(), "--speed", "0.015625"});
  start.environment = replay().environment;
  Process process(on(terminal, start));
  ASSERT_TRUE(terminal.shows("systemd"));
  EXPECT_EQ(terminal.text().find("python"), std::string::npos) << "that would take 64 s";
  terminal.type(std::string(18, '>'));
  EXPECT_TRUE(terminal.shows("python"));
  terminal.type("q");
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(TopCommand, ReplaysARecordingFromItsStartAgain) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  terminal.resize(80, 24);
  Process process(on(terminal, replay()));
  ASSERT_TRUE(terminal.shows("python"));
  const std::size_t end = terminal.text().size();
  terminal.type("r");
  EXPECT_TRUE(eventually([&] {
    terminal.take();
    const std::size_t first = terminal.text().find("1.000 s", end);
    return first != std::string::npos &&
           terminal.text().find("2.000 s", first) != std::string::npos;
  }));
  terminal.type("q");
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(TopCommand, EndsIfTheTerminalGoesAway) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  Process process(on(terminal, replay()));
  ASSERT_TRUE(terminal.shows("python"));
  terminal.hang_up();
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(TopCommand, TakesGarbageAndResizesWithoutHarm) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  Process process(on(terminal, replay()));
  ASSERT_TRUE(terminal.shows("\x1b[?1049h"));
  std::mt19937 random(20261127);  // NOLINT(cert-msc51-cpp): always the same
  constexpr std::size_t kBytes = 100'000;
  constexpr std::size_t kChunk = 500;
  // Quitting, stopping, flow control and the signals of keys have their own tests.
  const std::string_view left_out = "qQ\x03\x04\x1a\x1c\x11\x13\x16\x0f";
  for (std::size_t sent = 0; sent < kBytes; sent += kChunk) {
    std::string bytes;
    while (bytes.size() < kChunk) {
      const char byte = static_cast<char>(random());
      const bool is_start = random() % 8 == 0;
      if (is_start) bytes += "\x1b[";
      if (left_out.find(byte) == std::string_view::npos) bytes += byte;
    }
    terminal.type(bytes);
    terminal.resize(static_cast<unsigned short>(1 + random() % 300),
                    static_cast<unsigned short>(1 + random() % 120));
    terminal.take();
    ASSERT_TRUE(process.is_running()) << sent;
  }
  terminal.type("\x03");
  EXPECT_TRUE(eventually([&] {
    terminal.take();
    return !process.is_running();
  }));
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(TopCommand, WritesNoEscapeSequencesToADumbTerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  Start start = on(terminal, replay({"--ascii"}));
  start.environment["TERM"] = "dumb";
  start.environment["NO_COLOR"] = std::nullopt;
  Process process(start);
  ASSERT_TRUE(terminal.shows("python"));
  terminal.type("q");
  EXPECT_EQ(process.wait().code(), 0);
  terminal.take();
  EXPECT_THAT(terminal.text(), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(std::ranges::all_of(terminal.text(), [](char c) { return c >= 0; }));
}

}  // namespace
}  // namespace wattle::integration
