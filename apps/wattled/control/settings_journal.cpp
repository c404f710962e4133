#include "control/settings_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include "base/files/whole_file.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr std::string_view kJournalFormat = "wattled-settings/1";
constexpr std::string_view kNoValue = "-";
constexpr std::array<std::string_view, kSettingKinds> kKindNames = {
    "power_limit_mw", "persistence_mode", "gpu_clocks", "memory_clocks"};

std::optional<SettingKind> kind_named(std::string_view name) {
  const auto* const found = std::ranges::find(kKindNames, name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<SettingKind>(found - kKindNames.begin());
}

std::optional<ChangedSetting> parse_line(const std::string& line) {
  std::istringstream words(line);
  ChangedSetting change;
  std::string kind;
  std::string set;
  if (!(words >> change.device >> kind >> change.before >> set)) return std::nullopt;
  if (set != kNoValue) {
    change.set = parse_unsigned<std::uint64_t>(set);
    if (!change.set) return std::nullopt;
  }
  const auto known = kind_named(kind);
  if (!known) return std::nullopt;
  change.kind = *known;
  return change;
}

/// Opens and locks the folder. Empty: it cannot be opened; writing will report why.
Fd lock_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Fd fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(
        fmt::format("cannot use the settings journal {}: another wattled uses its folder; name "
                    "another with --settings-journal",
                    printable(path)));
  }
  return fd;
}

/// The file's text, or why it cannot be used.
std::variant<std::string, const char*> read_trusted(const std::string& path, uid_t owner) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::string();
  if (!file && errno == ELOOP) return "it is a link";
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return "it cannot be read";
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  const bool is_ours = status.st_uid == 0 || status.st_uid == ::geteuid() || status.st_uid == owner;
  if (!is_ours || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others could have written it";
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  std::string text(kMostBytes, '\0');
  const ssize_t size = read_pieces(file.get(), text);
  if (size < 0) return "it cannot be read";
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace

SettingsJournal::SettingsJournal(std::string path, uid_t owner, Write write)
    : path_(std::move(path)), write_(std::move(write)), folder_(lock_folder_of(path_)) {
  const auto found = read_trusted(path_, owner);
  if (const auto* const text = std::get_if<std::string>(&found)) {
    take(*text);
  } else {
    problem_ = fmt::format("{} is ignored: {}", printable(path_), std::get<const char*>(found));
  }
}

void SettingsJournal::take(const std::string& text) {
  if (text.empty()) {
    written_.emplace();
    return;
  }
  std::istringstream lines(text);
  std::string line;
  const bool is_journal = std::getline(lines, line) && line == kJournalFormat;
  bool is_whole = is_journal;
  while (is_journal && std::getline(lines, line)) {
    auto change = parse_line(line);
    is_whole = is_whole && change;
    if (change) changed_.push_back(*std::move(change));
  }
  if (is_whole) {
    written_ = changed_;
    return;
  }
  const std::string aside = path_ + ".damaged";
  const bool is_aside = put_in_place(aside, text, kModeForOwner).error == 0;
  problem_ = fmt::format("{} is damaged{}", printable(path_),
                         is_aside ? fmt::format(": it is kept as {}", printable(aside)) : "");
}

std::vector<ChangedSetting> SettingsJournal::changed() const {
  const std::scoped_lock lock(mutex_);
  return changed_;
}

bool SettingsJournal::holds(std::string_view device, SettingKind kind) const {
  std::vector<ChangedSetting> all = changed();
  return find(all, device, kind) != all.end();
}

std::vector<ChangedSetting>::iterator SettingsJournal::find(std::vector<ChangedSetting>& changed,
                                                            std::string_view device,
                                                            SettingKind kind) {
  return std::ranges::find_if(changed, [&](const ChangedSetting& change) {
    return change.device == device && change.kind == kind;
  });
}

void SettingsJournal::mark(std::vector<ChangedSetting>& changed, const ChangedSetting& change) {
  const auto known = find(changed, change.device, change.kind);
  if (known != changed.end()) {
    known->set.reset();
  } else {
    changed.push_back(change);
    changed.back().set.reset();
  }
}

int SettingsJournal::begin(const ChangedSetting& change) {
  // Others need not wait for the disk to see what is changed.
  const std::scoped_lock writing(writing_);
  std::vector<ChangedSetting> next = changed();
  mark(next, change);
  const auto marked = find(next, change.device, change.kind);
  if (!written_ || std::ranges::find(*written_, *marked) == written_->end()) {
    if (const int error = save(next); error != 0) return error;
    written_ = std::move(next);
  }
  const std::scoped_lock lock(mutex_);
  mark(changed_, change);
  return 0;
}

void SettingsJournal::finish(std::string_view device, SettingKind kind,
                             std::optional<std::uint64_t> set) {
  const std::scoped_lock lock(mutex_);
  const auto known = find(changed_, device, kind);
  if (known != changed_.end()) known->set = set;
}

void SettingsJournal::forget(std::string_view device, SettingKind kind) {
  const std::scoped_lock lock(mutex_);
  const auto known = find(changed_, device, kind);
  if (known != changed_.end()) changed_.erase(known);
}

void SettingsJournal::forget_all() {
  const std::scoped_lock lock(mutex_);
  changed_.clear();
}

void SettingsJournal::flush() {
  const std::scoped_lock writing(writing_);
  std::vector<ChangedSetting> now = changed();
  if (now != written_ && save(now) == 0) written_ = std::move(now);
}

int SettingsJournal::save(const std::vector<ChangedSetting>& changed) const {
  if (changed.empty()) return ::unlink(path_.c_str()) == 0 || errno == ENOENT ? 0 : errno;
  std::string text = fmt::format("{}\n", kJournalFormat);
  for (const ChangedSetting& change : changed) {
    text += fmt::format("{} {} {} {}\n", change.device,
                        kKindNames.at(static_cast<std::size_t>(change.kind)), change.before,
                        change.set ? std::to_string(*change.set) : std::string(kNoValue));
  }
  if (write_) return write_(path_, text);
  // Replaces a link, does not follow it.
  return put_in_place(path_, text, kModeForOwner).error;
}

}  // namespace wattle::daemon
