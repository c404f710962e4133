// `wattle top` on recordings and on made-up machines.
#pragma once

#include <fstream>
#include <string>

#include "command.hpp"
#include "fakes/powercap_tree.hpp"
#include "pty.hpp"
#include "top_recording.hpp"

namespace wattle::integration {

/// A test with a machine of one package, and recordings.
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

}  // namespace wattle::integration
