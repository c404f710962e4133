// `wattle top` on a terminal, as JSON lines, recorded and replayed.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <random>

#include "base/files/file.hpp"
#include "command.hpp"
#include "fakes/powercap_tree.hpp"
#include "pty.hpp"
#include "terminal_screen.hpp"
#include "top_recording.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class TopCommand : public CommandTest {
 protected:
  [[nodiscard]] std::string replayed(const std::string& content = recording()) const {
    const std::string file = path("top.jsonl").string();
    std::ofstream(file) << content;
    return file;
  }
  /// The replay at its end, and what the user would see of it.
  [[nodiscard]] Start replay(const Words& words = {}) const {
    Start start = wattle(Words{"top", "--replay", replayed(), "--speed", "4096"} + words);
    start.environment = {{"LC_ALL", "C.UTF-8"}, {"TERM", "xterm"}, {"NO_COLOR", "1"}};
    return start;
  }
  [[nodiscard]] static Start on(const Pty& terminal, Start start) {
    start.prepare = [&terminal] { terminal.become_terminal(); };
    return start;
  }
  /// `wattle top WORDS` of a machine with one package.
  [[nodiscard]] Start on_machine(const Words& words) {
    return wattle(Words{"top"} + words + Words{"--sysfs", tree_.system().sysfs.string()});
  }

  fakes::PowercapTree tree_;
};

/// The screens of a session, compared with those of a file, one after the other.
class Screens {
 public:
  explicit Screens(Pty& terminal) : terminal_(terminal) {
    const auto text = read_file(path());
    expected_ = text.value_or("");
  }
  ~Screens() {
    if (is_updating()) std::ofstream(path()) << all_;
  }
  Screens(const Screens&) = delete;
  Screens& operator=(const Screens&) = delete;

  /// Waits until the screen is as in the file.
  void expect(const std::string& title, std::size_t columns, std::size_t lines) {
    const std::string head = fmt::format("== {}\n", title);
    std::string wanted = expected_.substr(std::min(expected_.find(head), expected_.size()));
    if (const auto next = wanted.find("\n== "); next != std::string::npos) wanted.resize(next + 1);
    std::string shown;
    int same = 0;
    constexpr int kSettled = 300;
    const bool is_as_expected = eventually([&] {
      terminal_.take();
      TerminalScreen screen(columns, lines);
      screen.take(terminal_.text());
      const std::string before = std::exchange(shown, head + screen.text());
      same = before == shown ? same + 1 : 0;
      return is_updating() ? same > kSettled : shown == wanted;
    });
    EXPECT_TRUE(is_as_expected) << "shown:\n" << shown << "expected:\n" << wanted;
    all_ += shown;
  }

 private:
  static bool is_updating() { return std::getenv("UPDATE_GOLDEN") != nullptr; }
  static std::string path() { return std::string(WATTLE_FIXTURES) + "/golden/top/keys.txt"; }

  Pty& terminal_;
  std::string expected_;
  std::string all_;
};

TEST_F(TopCommand, ShowsTheRightScreenAfterEveryKeyAndAtEverySize) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  terminal.resize(80, 24);
  Process process(on(terminal, replay({"--price", "0.30EUR", "--carbon", "380"})));
  Screens screens(terminal);
  screens.expect("start", 80, 24);
  int number = 0;
  for (const char* keys : {"s",
                           "s",
                           "s",
                           "s",
                           "s",
                           "o",
                           "o",
                           "g",
                           "g",
                           "g",
                           "g",
                           "g",
                           "g",
                           "t",
                           "j",
                           "k",
                           "\x1b[6~",
                           "\x1b[5~",
                           "\x1b[F",
                           "\x1b[H",
                           "\x1b[B",
                           "\x1b[A",
                           "t",
                           "/",
                           "g",
                           "c",
                           "c",
                           "\x7f",
                           "\r",
                           "/",
                           "x",
                           "\x1b",
                           "u",
                           "u",
                           "u",
                           "u",
                           "p",
                           " ",
                           "?",
                           "h",
                           "<",
                           ">",
                           "\x0c",
                           "\x1b[<0;4;11M",
                           "\x1b[<65;4;11M",
                           "r"}) {
    terminal.type(keys);
    std::string name;
    for (const char* c = keys; *c != '\0'; ++c) {
      name += *c < ' ' || *c == '\x7f' ? fmt::format("\\x{:02x}", static_cast<unsigned>(*c))
                                       : std::string(1, *c);
    }
    screens.expect(fmt::format("{}: {}", ++number, name), 80, 24);
  }
  for (const auto& [columns, lines] : std::array<std::pair<unsigned short, unsigned short>, 6>{
           {{40, 10}, {120, 40}, {200, 50}, {400, 100}, {1, 1}, {80, 24}}}) {
    terminal.resize(columns, lines);
    screens.expect(fmt::format("{}x{}", columns, lines), columns, lines);
  }
  terminal.type("q");
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(TopCommand, GivesTheTerminalBackAtEveryEnd) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  for (const char* end : {"q", "Q", "\x03", "\x04", "INT", "TERM", "HUP"}) {
    Pty terminal;
    terminal.resize(80, 24);
    const termios before = terminal.settings();
    Process process(on(terminal, replay()));
    ASSERT_TRUE(terminal.shows("python")) << end;
    EXPECT_EQ(terminal.settings().c_lflag & (ICANON | ECHO), 0U);
    const std::string_view name = end;
    if (name.size() == 1) {
      terminal.type(end);
    } else {
      process.send(name == "INT" ? SIGINT : (name == "TERM" ? SIGTERM : SIGHUP));
    }
    EXPECT_EQ(process.wait().code(), 0) << end;
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

TEST_F(TopCommand, IsForTerminals) {
  const Outcome outcome = run(replay());
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("stdout is not a terminal"), HasSubstr("--once"),
                                 HasSubstr("--json")));
}

TEST_F(TopCommand, RefusesWhatIsNoRecordingInOneSentence) {
  std::string half = recording();
  half.resize(half.find('\n') + 1);
  for (const std::string& content :
       {std::string(), std::string("hello\n"), std::string("\0\x1b[2J\n", 6),
        std::string("{\"schema\":\"wattle.run/2\"}\n"), half}) {
    const Outcome outcome = run(wattle({"top", "--json", "--replay", replayed(content)}));
    EXPECT_EQ(outcome.code(), kUsage) << content;
    EXPECT_THAT(outcome.err, HasSubstr("top.jsonl")) << content;
    EXPECT_EQ(outcome.out, "");
  }
  const Outcome missing = run(wattle({"top", "--json", "--replay", path("none").string()}));
  EXPECT_EQ(missing.code(), kUsage);
  EXPECT_THAT(missing.err, HasSubstr("cannot read"));
}

TEST_F(TopCommand, LeavesOutDamagedLinesOfARecording) {
  std::string text = recording();
  text.insert(text.find('\n') + 1, "rubbish\n");
  const Outcome outcome =
      run(wattle({"top", "--json", "--replay", replayed(text + "{\"elapsed"), "--speed", "4096"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2);
}

TEST_F(TopCommand, ReplaysWhatItRecorded) {
  tree_.add_zone("intel-rapl:0", "package-0");
  const std::string file = path("own.jsonl").string();
  Process process(on_machine({"--json", "--period", "0.1", "--record", file}));
  ASSERT_TRUE(process.prints("\n{"));
  process.send(SIGINT);
  const Outcome recorded = process.wait();
  EXPECT_EQ(recorded.code(), 0);
  const Outcome again = run(wattle({"top", "--json", "--replay", file, "--speed", "4096"}));
  EXPECT_EQ(again.code(), 0);
  std::string_view out = recorded.out;
  const Json first = parse_json(std::string(out.substr(0, out.find('\n'))));
  const Json replayed_first = parse_json(again.out.substr(0, again.out.find('\n')));
  EXPECT_EQ(first["elapsed_s"], replayed_first["elapsed_s"]);
  EXPECT_EQ(first["devices"], replayed_first["devices"]);
  EXPECT_EQ(first["groups"].size(), replayed_first["groups"].size());
}

TEST_F(TopCommand, RecordsIntoNoFileOfAnotherKind) {
  const std::string file = path("letter.txt").string();
  std::ofstream(file) << "dear reader\n";
  const Outcome outcome = run(on_machine({"--json", "--record", file}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_EQ(content_of(file), "dear reader\n");
}

TEST_F(TopCommand, CountsABurstBetweenTwoPeriods) {
  tree_.add_zone("intel-rapl:0", "package-0");
  Process process(on_machine({"--json", "--period", "0.3"}));
  ASSERT_TRUE(process.prints("\n"));
  fakes::set_energy_uj(tree_.zone_path("intel-rapl:0"), 50'000'000);
  ASSERT_TRUE(process.prints("\"energy_j\":5"));
  process.send(SIGTERM);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 0);
  std::string last = outcome.out;
  last.pop_back();
  last = last.substr(last.rfind('\n') + 1);
  const Json json = parse_json(last);
  EXPECT_NEAR(json["devices"][0]["energy_j"].get<double>(), 50.0, 0.1);
  EXPECT_NEAR(json["total"]["energy_j"].get<double>(), 50.0, 0.1);
}

TEST_F(TopCommand, SaysWhatIsMissingWithoutSensors) {
  Process process(wattle({"top", "--json", "--period", "0.1", "--sysfs", path("none").string(),
                          "--nvml-library", path("none").string()}));
  ASSERT_TRUE(process.prints("\n"));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  const Json json = parse_json(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(json["share_of"], "cpu_time");
  EXPECT_TRUE(json["devices"].empty());
  EXPECT_FALSE(json["groups"].empty());
  EXPECT_THAT(json["missing"].dump(), HasSubstr("--estimate"));
}

TEST_F(TopCommand, RefusesWrongOptions) {
  for (const Words& words : std::vector<Words>{{"--price", "cheap"},
                                               {"--carbon", "-1"},
                                               {"--period", "0"},
                                               {"--speed", "2"},
                                               {"--by", "moon"},
                                               {"--once", "--record", "x"},
                                               {"--seconds", "1"},
                                               {"--replay", "x", "--record", "y"},
                                               {"--replay", "x", "--speed", "0"}}) {
    EXPECT_EQ(run(wattle(Words{"top", "--json"} + words)).code(), kUsage)
        << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace wattle::integration
