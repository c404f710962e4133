// `wattle top` in tmux: it shows what it shows on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/files/file.hpp"
#include "top_command.hpp"
#include "top_screens.hpp"

namespace wattle::integration {
namespace {

/// A server of tmux with one window.
class TopInTmux : public TopCommand {
 protected:
  [[nodiscard]] static bool has_tmux() { return std::filesystem::exists("/usr/bin/tmux"); }
  /// The output of a command of tmux.
  std::string tmux(const Words& words) const {
    Start start;
    start.command = Words{"tmux", "-u", "-S", socket_, "-f", settings_} + words;
    start.environment = environment();
    const Outcome outcome = run(start);
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return outcome.out;
  }
  void open(const Words& command) {
    std::ofstream(settings_) << "set -g status off\nset -g escape-time 0\n"
                                "set -g default-terminal screen\n"
                                "set -g remain-on-exit on\nset -g exit-empty off\n";
    // Not as a daemon: it ends with this test.
    Start start;
    start.command = {"tmux", "-u", "-D", "-S", socket_, "-f", settings_};
    start.environment = environment();
    server_.emplace(start);
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(socket_); }));
    // tmux itself sometimes misses with what status a program ends.
    (void)tmux(Words{"new-session", "-d", "-x", "80", "-y", "24", "sh", "-c",
                     R"(status=$1; shift; "$@"; echo $? > "$status")", "sh", status_} +
               command);
  }
  void type(const std::string& keys) const {
    Words words = {"send-keys", "-H"};
    for (const char c : keys) words.push_back(fmt::format("{:02x}", static_cast<unsigned char>(c)));
    (void)tmux(words);
  }
  /// All lines, those at the end too, without the spaces at their ends.
  [[nodiscard]] std::string shown(std::size_t lines) const {
    std::string text = tmux({"capture-pane", "-p"});
    const auto count = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    return text + std::string(lines - std::min(lines, count), '\n');
  }

  /// A file: with what status the command ended.
  std::string status_ = path("status").string();

 private:
  static Environment environment() {
    return {{"LC_ALL", "C.UTF-8"}, {"TERM", "xterm"}, {"NO_COLOR", "1"}, {"TMUX", std::nullopt}};
  }

  std::string socket_ = path("tmux").string();
  std::string settings_ = path("tmux.conf").string();
  std::optional<Process> server_{};
};

TEST_F(TopInTmux, ShowsTheScreensOfATerminal) {
  if (!has_tmux()) GTEST_SKIP() << "tmux is not installed";
  open(replay({"--price", "0.30EUR", "--carbon", "380"}).command);
  Screens screens({.shown = [this](std::size_t, std::size_t lines) { return shown(lines); },
                   .type = [this](const std::string& keys) { type(keys); },
                   .resize =
                       [this](unsigned short columns, unsigned short lines) {
                         (void)tmux({"resize-window", "-x", std::to_string(columns), "-y",
                                     std::to_string(lines)});
                       }},
                  Screens::Golden::is_read_only);
  screens.play();
  type("q");
  std::string status;
  EXPECT_TRUE(eventually([&] {
    status = read_file(status_).value_or("");
    return status.ends_with('\n');
  }));
  EXPECT_EQ(status, "0\n");
}

}  // namespace
}  // namespace wattle::integration
