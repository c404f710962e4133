#include "history/git_dirty.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/text/split.hpp"
#include "history/git_command.hpp"

namespace wattle::app {
namespace {

/// Switches off the filters that any configuration names: git would run them to compare a file.
/// False: they are not known.
bool switch_filters_off(GitCommand& git) {
  const auto found = git.run({"config", "--name-only", "-z", "--get-regexp", "^filter[.]"});
  constexpr int kNone = 1;
  if (found.code == kNone) return true;
  if (found.code != 0) return false;
  std::string_view rest = found.out;
  while (!rest.empty()) {
    const std::string_view name = take_until(rest, '\0');
    const std::size_t last = name.rfind('.');
    // In a setting given by -c, "=" ends the name.
    if (last == std::string_view::npos || name.find('=') != std::string_view::npos) return false;
    const std::string filter(name.substr(0, last));
    for (const char* key : {".clean", ".smudge", ".process"}) git.set(filter + key, "");
    git.set(filter + ".required", "false");
  }
  return true;
}

/// The files that `git status` shows as changed.
struct Changes {
  bool any = false;
  bool staged = false;               ///< the index differs from the commit
  std::vector<std::string> files{};  ///< of the others, the first ones
};

Changes changes_of(std::string_view status) {
  constexpr std::size_t kMostFiles = 100;
  Changes changes;
  while (!status.empty()) {
    // "XY PATH": X of the index, Y of the file. A renamed one has a second path.
    const std::string_view line = take_until(status, '\0');
    if (line.size() < 4) continue;
    changes.any = true;
    if (line[0] != ' ') {
      changes.staged = true;
      break;
    }
    if (line[1] == 'D') changes.staged = true;  // no filter replaces a missing file
    if (changes.files.size() < kMostFiles) changes.files.emplace_back(line.substr(3));
  }
  return changes;
}

/// True if a file of these is compared as it is. Absent: git does not report it.
std::optional<bool> has_unfiltered(GitCommand& git, const std::vector<std::string>& files) {
  std::vector<std::string> words = {"check-attr", "-z", "filter", "--"};
  words.insert(words.end(), files.begin(), files.end());
  const auto found = git.run(words);
  if (found.code != 0) return std::nullopt;
  std::string_view rest = found.out;
  while (!rest.empty()) {
    (void)take_until(rest, '\0');  // the path
    (void)take_until(rest, '\0');  // "filter"
    const std::string_view value = take_until(rest, '\0');
    if (value == "unspecified" || value == "unset") return true;
  }
  return false;
}

/// Why it is not known; null where it is.
const char* find_out(GitCommand& git, std::optional<bool>& dirty) {
  if (!switch_filters_off(git)) return "git failed, or there is no git";
  const auto status =
      git.run({"status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"});
  if (status.code != 0) return "git status failed, or there is no git";
  const Changes changes = changes_of(status.out);
  if (!changes.any || changes.staged) {
    dirty = changes.any;
    return nullptr;
  }
  const auto is_unfiltered = has_unfiltered(git, changes.files);
  if (!is_unfiltered) return "git failed";
  if (!*is_unfiltered) return "all changed files go through a filter, which is not run";
  dirty = true;
  return nullptr;
}

}  // namespace

std::set<pid_t> find_dirty(GitState& git, std::chrono::milliseconds limit) {
  GitCommand command(git.worktree.string(), machine_clock().now() + limit);
  const char* why = find_out(command, git.dirty);
  if (command.is_late()) why = "git took too long";
  if (command.is_late()) git.dirty.reset();
  if (why != nullptr && git.unknown.empty()) git.unknown = why;
  return command.left();
}

}  // namespace wattle::app
