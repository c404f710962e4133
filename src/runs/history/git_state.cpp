#include "runs/history/git_state.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "base/files/file.hpp"
#include "base/text/split.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRefMark = "ref: ";

bool is_object_name(std::string_view text) noexcept {
  constexpr std::size_t kSha1 = 40;
  constexpr std::size_t kSha256 = 64;
  return (text.size() == kSha1 || text.size() == kSha256) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// The folder of a repository's own files: `.git` itself, or the folder that the file `.git` of a
/// linked worktree or a submodule names.
std::optional<fs::path> git_folder(const fs::path& dot_git) {
  std::error_code error;
  const fs::file_status status = fs::status(dot_git, error);
  if (fs::is_directory(status)) return dot_git;
  if (!fs::is_regular_file(status)) return std::nullopt;
  constexpr std::string_view kMark = "gitdir: ";
  const auto line = read_line(dot_git.string());
  if (!line || !line->starts_with(kMark)) return std::nullopt;
  return dot_git.parent_path() / line->substr(kMark.size());
}

/// Where the refs are that all worktrees share.
fs::path common_folder(const fs::path& git) {
  const auto line = read_line((git / "commondir").string());
  return line ? git / *line : git;
}

/// From the file of all refs that have none of their own.
std::optional<std::string> packed_ref(const fs::path& common, std::string_view ref) {
  const auto content = read_file((common / "packed-refs").string());
  if (!content) return std::nullopt;
  std::string_view rest = *content;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos && line.substr(blank + 1) == ref) {
      return std::string(line.substr(0, blank));
    }
  }
  return std::nullopt;
}

/// The commit that a ref names, by way of other refs if need be.
std::optional<std::string> resolved(const fs::path& git, const fs::path& common, std::string ref) {
  constexpr int kMostSteps = 5;  // as git
  for (int step = 0; step < kMostSteps; ++step) {
    // A ref comes from a file of the repository: it must not lead out of it.
    if (ref.find("..") != std::string::npos || ref.starts_with('/')) return std::nullopt;
    auto line = read_line((git / ref).string());
    if (!line && git != common) line = read_line((common / ref).string());
    if (!line) line = packed_ref(common, ref);
    if (!line) return std::nullopt;
    if (is_object_name(*line)) return line;
    if (!line->starts_with(kRefMark)) return std::nullopt;
    ref = line->substr(kRefMark.size());
  }
  return std::nullopt;
}

GitState state_of(const fs::path& git) {
  GitState state;
  const auto head = read_line((git / "HEAD").string());
  if (!head) {
    state.unknown = "HEAD of the git repository cannot be read";
    return state;
  }
  if (is_object_name(*head)) {
    state.commit = *head;
    return state;
  }
  if (!head->starts_with(kRefMark)) {
    state.unknown = "HEAD of the git repository is not understood";
    return state;
  }
  const std::string ref = head->substr(kRefMark.size());
  constexpr std::string_view kBranches = "refs/heads/";
  state.branch = ref.starts_with(kBranches) ? ref.substr(kBranches.size()) : ref;
  const auto commit = resolved(git, common_folder(git), ref);
  if (commit) {
    state.commit = *commit;
  } else {
    state.unknown = "the branch has no commit that Wattle can read";
  }
  return state;
}

}  // namespace

std::optional<GitState> read_git_state(const fs::path& folder) {
  for (fs::path place = folder;; place = place.parent_path()) {
    if (const auto git = git_folder(place / ".git")) {
      GitState state = state_of(*git);
      state.worktree = place;
      return state;
    }
    if (place == place.parent_path()) return std::nullopt;
  }
}

}  // namespace wattle
